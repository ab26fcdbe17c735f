// What the tests of groups share: pods that start together, and what became of them.
#pragma once

#include "scheduler/gpu/wishes.h"
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

namespace tests {

inline PodBuilder& member(PodBuilder& pod, std::string_view group, int min_count) {
  return pod.annotated(sched::gpu::kPodGroupAnnotation, group)
      .annotated(sched::gpu::kMinCountAnnotation, std::to_string(min_count));
}

// Pod `i` of the group.
inline PodBuilder of(std::string_view group, int min_count, int i, int gpus = 8) {
  PodBuilder made = our_pod(std::string(group) + "-" + std::to_string(i));
  return member(made.gpus(gpus), group, min_count);
}

struct Groups : QuotaCluster {
  using QuotaCluster::QuotaCluster;
  void has_nodes(int n, int gpus = 8) {
    for (int i = 0; i < n; ++i) has(node("n" + std::to_string(nodes++)).gpus(gpus));
  }
  // So many pods of the group; returns the last.
  k8s::Pod has_pods(std::string_view group, int min_count, int n, int gpus = 8) {
    k8s::Pod last;
    for (int i = 0; i < n; ++i) has(last = of(group, min_count, i, gpus));
    return last;
  }
  // How many pods were bound by the next decisions, and what the others are told, each once.
  struct Outcome {
    int bound = 0;
    Texts told;
    friend bool operator==(const Outcome&, const Outcome&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
      out << outcome.bound << " bound";
      for (const std::string& text : outcome.told) out << "; " << text;
      return out;
    }
  };
  Outcome outcome() {
    Outcome all;
    for (const sched::Decision& decision : decisions()) {
      if (std::holds_alternative<sched::decision::Bind>(decision)) ++all.bound;
      if (const auto* told = std::get_if<sched::decision::Unschedulable>(&decision)) {
        std::string text = told->message;
        if (!told->details.empty()) text += " | " + told->details;
        if (std::find(all.told.begin(), all.told.end(), text) == all.told.end()) {
          all.told.push_back(text);
        }
      }
    }
    return all;
  }
  int nodes = 0;
};

inline Groups::Outcome all_bound(int n) { return {n, {}}; }

}  // namespace tests
