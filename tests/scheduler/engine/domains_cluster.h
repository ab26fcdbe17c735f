// What the tests of rules across nodes share: two nodes in zone a, two in zone b, one in none.
#pragma once

#include "tests/scheduler/engine/quota_cluster.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

struct DomainsCluster : QuotaCluster {
  explicit DomainsCluster(std::string_view constraint, const std::vector<k8s::Pod>& running = {})
      : QuotaCluster(constraint) {
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

  static constexpr std::pair<const char*, const char*> kZones[] = {
      {"a1", "a"}, {"a2", "a"}, {"b1", "b"}, {"b2", "b"}, {"c0", ""}};
  std::map<std::string, std::string> refused;
};

}  // namespace tests
