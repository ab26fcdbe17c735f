// What becomes of the waiting pods if nothing else happens.
//
// The engine makes all its decisions, and they are collected. This is how a running scheduler would
// continue from what the API server shows, and how a stopped one would begin. The engine is changed
// by it: pods that start are assumed on their nodes. No pod is evicted. A pod that would need
// evictions waits, and its refusal says for what.
#pragma once

#include "scheduler/engine/engine.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::answers {

// Why pods wait, in the engine's words; many pods share one refusal.
struct Refusal {
  std::string message;
  std::string details;
  std::vector<std::string> plugins;  // the plugins that refused, sorted
  // By quota, or the turn within it: kGpuQuotaExceeded.
  decision::Unschedulable::Reason reason = decision::Unschedulable::Reason::kUnschedulable;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

[[nodiscard]] inline bool is_by_quota(const Refusal& refusal) {
  return refusal.reason == decision::Unschedulable::Reason::kGpuQuotaExceeded;
}

class Outlook {
 public:
  struct Outcome {
    PodRef pod;
    std::string node;           // where it starts; empty: it waits
    std::size_t refusal = 0;    // of a pod that waits: index of refusal()
    bool after_writes = false;  // it starts once its volumes are bound
    [[nodiscard]] bool starts() const { return !node.empty(); }
  };

  // In the order of the decisions; a pod with several decisions is listed once, with the last. Pods
  // without a decision (gated ones) are missing.
  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // Null: nothing was decided on that pod.
  [[nodiscard]] const Outcome* find(const std::string& uid) const;
  [[nodiscard]] const Refusal& refusal(const Outcome& outcome) const {
    return refusals_[outcome.refusal];
  }

  // Runs the engine, and adds its decisions. Returns how many outcomes there were before.
  std::size_t advance(Engine& engine, Time now);

 private:
  Outcome& of(const PodRef& pod);
  std::size_t intern(Refusal refusal);

  std::vector<Outcome> outcomes_;
  std::unordered_map<std::string, std::size_t> by_uid_;
  std::vector<Refusal> refusals_;
  std::unordered_map<std::string, std::size_t> by_text_;
};

}  // namespace sched::answers
