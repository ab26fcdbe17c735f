// Pods of other schedulers that take GPUs on nodes that a profile owns. Two schedulers on one node
// sooner or later over-commit it, so this is reported. Each such pod is reported once, if it still
// exists then.
#pragma once

#include "scheduler/engine/decision.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace sched {

class ForeignGpuPods {
 public:
  // A pod of another scheduler with GPUs is on `pod.node`. Calls may repeat.
  void seen(decision::ForeignGpuPod pod, bool node_is_owned);
  // A profile owns the node (now): the pods seen there are reported.
  void node_owned(const std::string& node);
  // The pod is finished or gone.
  void gone(const std::string& uid);

  // The next pod to report; nullopt: none.
  [[nodiscard]] std::optional<decision::ForeignGpuPod> next();

 private:
  enum class State : std::uint8_t { kHarmless, kUnreported, kReported };
  struct Entry {
    decision::ForeignGpuPod pod;
    State state = State::kHarmless;
    std::uint64_t number = 0;  // in unreported_
  };
  void report_later(const std::string& uid, Entry& entry);

  std::map<std::string, Entry> pods_;                         // by uid
  std::map<std::string, std::set<std::string>> harmless_on_;  // node → uids
  std::map<std::uint64_t, std::string> unreported_;           // uids, in the order of the reports
  std::uint64_t numbers_ = 0;
};

}  // namespace sched
