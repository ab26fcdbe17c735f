// What a constraint keeps of the pods with volumes that a trial adds to nodes.
//
// The search for a group asks about its pods one after the other, and the trial then has one pod
// more each time. What was computed of the pods before it is kept for the next question. So a group
// costs in proportion to its pods, and not to their square.
#pragma once

#include "scheduler/framework/pod_difference.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plugins {

template <typename OfNode>
class AddedPods {
 public:
  struct Node {
    OfNode kept{};
    std::vector<std::string> uids{};  // of the pods that it is about, in their order
  };
  using ByNode = std::map<std::string, Node, std::less<>>;

  // What is kept of each node to which the trial adds such pods; valid until the next call.
  // `add(kept, pod)`: one more pod of that node, whose pods come in their order.
  template <typename Add>
  const ByNode& of(const sched::PodDifference& trial, const Add& add) {
    std::map<std::string_view, std::vector<const k8s::Pod*>> pods_on;
    auto there = pods_on.end();
    for (const sched::PodDifference::Added& added : trial.added()) {
      if (added.pod->spec.volumes.empty()) continue;
      // A trial names the pods of a node one after the other.
      if (there == pods_on.end() || there->first != added.node) {
        there = pods_on.try_emplace(added.node).first;
      }
      there->second.push_back(added.pod);
    }
    auto at = by_node_.begin();
    for (const auto& [node, pods] : pods_on) {
      while (at != by_node_.end() && at->first < node) at = by_node_.erase(at);
      if (at == by_node_.end() || at->first != node) {
        at = by_node_.try_emplace(at, std::string(node));
      }
      Node& known = (at++)->second;
      if (!begin_with(pods, known.uids)) known = {};
      for (std::size_t i = known.uids.size(); i < pods.size(); ++i) {
        add(known.kept, *pods[i]);
        known.uids.push_back(pods[i]->metadata.uid);
      }
    }
    by_node_.erase(at, by_node_.end());
    return by_node_;
  }
  // What add() reads besides the pods has changed.
  void forget() { by_node_.clear(); }

 private:
  static bool begin_with(const std::vector<const k8s::Pod*>& pods,
                         const std::vector<std::string>& uids) {
    return uids.size() <= pods.size() &&
           std::equal(uids.begin(), uids.end(), pods.begin(),
                      [](const auto& uid, const auto* pod) { return uid == pod->metadata.uid; });
  }

  ByNode by_node_;
};

}  // namespace plugins
