// Pods of other schedulers that take GPUs on nodes that a profile owns: two schedulers on one node
// over-commit it sooner or later, and somebody should hear of it. Each such pod is named once.
#pragma once

#include "scheduler/engine/decision.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace sched {

class ForeignGpuPods {
 public:
  // A pod of another scheduler with GPUs is on `pod.node`. Repeating it is harmless.
  void seen(decision::ForeignGpuPod pod, bool node_is_owned);
  // The node is owned (now): the pods seen there count.
  void node_owned(const std::string& node);
  // The pod is finished or gone.
  void gone(const std::string& uid);

  // The next pod to tell of; nullopt: none.
  [[nodiscard]] std::optional<decision::ForeignGpuPod> next();

 private:
  enum class State : std::uint8_t { kHarmless, kToTell, kTold };
  struct Entry {
    decision::ForeignGpuPod pod;
    State state = State::kHarmless;
  };
  void tell(const std::string& uid, Entry& entry);

  std::map<std::string, Entry> pods_;                         // by uid
  std::map<std::string, std::set<std::string>> harmless_on_;  // node → uids
  std::deque<std::string> to_tell_;                           // uids; some may be gone by now
};

}  // namespace sched
