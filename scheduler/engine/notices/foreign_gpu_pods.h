// Pods of other schedulers that take GPUs on nodes that a profile owns: two schedulers on one node
// over-commit it sooner or later, and somebody should hear of it. Each such pod is named once, if
// it is still there when somebody listens.
#pragma once

#include "scheduler/engine/decision.h"

#include <cstddef>
#include <cstdint>
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
  // How many there are to tell of.
  [[nodiscard]] std::size_t untold() const { return to_tell_.size(); }

 private:
  enum class State : std::uint8_t { kHarmless, kToTell, kTold };
  struct Entry {
    decision::ForeignGpuPod pod;
    State state = State::kHarmless;
    std::uint64_t number = 0;  // in to_tell_
  };
  void tell(const std::string& uid, Entry& entry);

  std::map<std::string, Entry> pods_;                         // by uid
  std::map<std::string, std::set<std::string>> harmless_on_;  // node → uids
  std::map<std::uint64_t, std::string> to_tell_;              // uids, in the order of telling
  std::uint64_t numbers_ = 0;
};

}  // namespace sched
