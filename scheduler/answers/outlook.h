// What becomes of the pods that wait, if nothing else happens.
//
// The engine is let decide until it has nothing to say, and what it decides is noted down. That is
// how a running scheduler would go on from what the API server shows, and how one that is down
// would begin. The engine is changed by it: pods that start are assumed on their nodes.
#pragma once

#include "scheduler/engine/engine.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::answers {

// Why pods wait, in the engine's words; many have the same.
struct Refusal {
  std::string message;
  std::string details;
  std::vector<std::string> plugins;  // that refused, sorted
  bool by_quota = false;             // quota, or the turn within it
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

class Outlook {
 public:
  struct Outcome {
    PodRef pod;
    std::string node;           // where it starts; empty: it waits
    std::size_t refusal = 0;    // of one that waits: index of refusal()
    bool after_writes = false;  // it starts once its volumes are bound
    [[nodiscard]] bool starts() const { return !node.empty(); }
  };

  // In the order of the decisions; a pod that was decided on several times stands once, with the
  // last. Pods that the engine says nothing of (gated ones) are missing.
  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // Null: nothing was decided on that pod.
  [[nodiscard]] const Outcome* find(const std::string& uid) const;
  [[nodiscard]] const Refusal& refusal(const Outcome& outcome) const {
    return refusals_[outcome.refusal];
  }

  // Lets the engine decide, and adds what it does. Returns how many outcomes there were before.
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
