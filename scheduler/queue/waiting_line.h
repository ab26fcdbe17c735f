// The pods of one queue in the order of their turns, so that each can be told its place in line.
#pragma once

#include "scheduler/queue/waiting_pod.h"

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace sched {

class WaitingLine {
 public:
  // O(log pods) each. Joining again or leaving without having joined changes nothing.
  void join(WaitingPod& pod) {
    if (pod.in_line) return;
    pod.in_line = true;
    pods_.insert({pod.order, &pod});
    Kind& kind = kinds_.try_emplace(key_of(pod), Kind{pod.demand, 0}).first->second;
    ++kind.pods;
    ++version_;
  }
  void leave(WaitingPod& pod) {
    if (!pod.in_line) return;
    pod.in_line = false;
    pods_.erase(pod.order);
    const auto kind = kinds_.find(key_of(pod));
    if (--kind->second.pods == 0) kinds_.erase(kind);
    ++version_;
  }

  // Whose turn is the first; null: nobody's.
  [[nodiscard]] WaitingPod* first() const {
    return pods_.empty() ? nullptr : pods_.begin()->second;
  }
  // The first, by their turns, of which accept(pod) is true; null: none.
  template <typename Accept>
  [[nodiscard]] WaitingPod* first_that(Accept&& accept) const {
    for (const auto& entry : pods_) {
      if (accept(*entry.second)) return entry.second;
    }
    return nullptr;
  }
  // How many have their turn before this pod, whether or not it is in line. O(log pods).
  [[nodiscard]] std::size_t before(const WaitingPod& pod) const {
    return pods_.order_of_key(pod.order);
  }
  [[nodiscard]] std::size_t size() const { return pods_.size(); }

  // Grows when a pod joins or leaves.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // Calls visit(demand, pods) for each kind of pods that are in line: what one of them asks for,
  // and how many there are. O(kinds).
  template <typename Visit>
  void for_each_kind(Visit&& visit) const {
    for (const auto& [key, kind] : kinds_) visit(kind.demand, kind.pods);
  }

 private:
  struct Kind {
    quota::Demand demand;
    std::size_t pods = 0;
  };
  using Key = std::pair<std::size_t, ShapeId>;  // profile, shape
  static Key key_of(const WaitingPod& pod) { return {pod.profile, pod.shape.id()}; }

  // A red-black tree whose nodes know the size of what hangs below them.
  using Tree = __gnu_pbds::tree<QueueOrder, WaitingPod*, std::less<>, __gnu_pbds::rb_tree_tag,
                                __gnu_pbds::tree_order_statistics_node_update>;
  Tree pods_;
  std::map<Key, Kind> kinds_;
  std::uint64_t version_ = 0;
};

}  // namespace sched
