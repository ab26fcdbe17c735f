// Pods whose schedulerName differs in one letter from that of a profile, most likely by mistake. No
// scheduler serves them, and nothing else reports this to their owner. Each such pod is reported
// once, if it still waits then.
#pragma once

#include "scheduler/engine/decision.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sched {

class MisnamedSchedulers {
 public:
  // The pod waits for that scheduler. Repeating it is harmless.
  void seen(decision::MisnamedScheduler pod);
  // The pod has a node, has finished, or is gone.
  void gone(const std::string& uid);

  // The next pod to report; nullopt: none.
  [[nodiscard]] std::optional<decision::MisnamedScheduler> next();

  // Those of a namespace, or all if it is empty, in the order in which they came.
  [[nodiscard]] std::vector<decision::MisnamedScheduler> in(std::string_view namespace_) const;

 private:
  // By number, from 1, in the order of the reports.
  std::map<std::uint64_t, decision::MisnamedScheduler> pods_;
  std::unordered_map<std::string, std::uint64_t> numbers_;  // of each pod, by uid
  std::uint64_t last_ = 0;                                  // the last number that was given
  std::uint64_t reported_ = 0;                              // all up to it have been reported
};

}  // namespace sched
