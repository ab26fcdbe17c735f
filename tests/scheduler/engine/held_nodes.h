// What pods that wait are told of the nodes that are held for them.
#pragma once

#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <map>
#include <string>
#include <variant>

namespace tests {

inline constexpr std::chrono::seconds kHoldAfter{600};

// What each pod that was told to wait was told, in numbers; by name.
inline std::map<std::string, std::string> details(QuotaCluster& s) {
  std::map<std::string, std::string> all;
  for (const sched::Decision& each : s.decisions()) {
    const auto* refusal = std::get_if<sched::decision::Unschedulable>(&each);
    if (refusal != nullptr) all[refusal->pod.name] = refusal->details;
  }
  return all;
}

inline bool holds(const std::string& details, const std::string& node) {
  return details.ends_with("holds node " + node + " until it has room");
}

}  // namespace tests
