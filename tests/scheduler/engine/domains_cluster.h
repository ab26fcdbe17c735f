// What the tests of rules across nodes share: two nodes in zone a, two in zone b, one in none; pods
// of an app.
#pragma once

#include "tests/scheduler/engine/quota_cluster.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

struct DomainsCluster : QuotaCluster {
  explicit DomainsCluster(std::string_view constraint, const std::vector<k8s::Pod>& running = {})
      : QuotaCluster({constraint}) {
    for (const auto& [name, zone] : kZones) {
      NodeBuilder made = node(name).gpus(8).cpu("64").labelled("host", name);
      if (*zone != '\0') made.labelled("zone", zone);
      has(made);
    }
    for (const k8s::Pod& pod : running) has(pod);
  }

  // The nodes that the pod may use, by name: "a1 a2". The others' codes and reasons go to
  // `refused`.
  std::string allowed(const k8s::Pod& pod) {
    refused.clear();
    std::string all;
    for (const sched::NodeExplanation& node : engine.explain(pod).nodes) {
      if (node.code == sched::Code::kOk) {
        all += (all.empty() ? "" : " ") + node.node;
      } else {
        refused[node.node] = std::string(to_string(node.code)) + " " + node.plugin + ": " +
                             (node.reasons.empty() ? "" : node.reasons.front());
      }
    }
    return all;
  }

  // What the constraint scores the nodes that take the pod: "a1 33, a2 33". Empty: nothing.
  std::string scores(const k8s::Pod& pod) const {
    std::map<std::string, std::int64_t> by_node;
    for (const sched::Candidate& node : engine.candidates(pod, 100)) {
      const sched::PluginScore& last = node.scores.back();
      if (last.weight == 20) by_node[node.node] = last.score;
    }
    std::string all;
    for (const auto& [name, score] : by_node) {
      all += (all.empty() ? "" : ", ") + name + " " + std::to_string(score);
    }
    return all;
  }

  static constexpr std::pair<const char*, const char*> kZones[] = {
      {"a1", "a"}, {"a2", "a"}, {"b1", "b"}, {"b2", "b"}, {"c0", ""}};
  std::map<std::string, std::string> refused;
};

// A pod of the app that runs on the node, for another scheduler.
inline PodBuilder runs(std::string_view name, std::string_view on, std::string_view app = "web") {
  return their_pod(name).labelled("app", app).on(on);
}
// A pod of the app that has no node yet.
inline PodBuilder asks(std::string_view app = "web") { return our_pod("p").labelled("app", app); }

}  // namespace tests
