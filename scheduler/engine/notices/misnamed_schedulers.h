// Pods that wait for a scheduler which does not exist, by a slip of one letter in schedulerName:
// nothing else ever tells their owner. Each such pod is named once, if it still waits then.
#pragma once

#include "scheduler/engine/decision.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace sched {

class MisnamedSchedulers {
 public:
  // The pod waits for that scheduler. Repeating it is harmless.
  void seen(decision::MisnamedScheduler pod);
  // The pod has a node, has finished, or is gone.
  void gone(const std::string& uid);

  // The next pod to tell of; nullopt: none.
  [[nodiscard]] std::optional<decision::MisnamedScheduler> next();

 private:
  std::unordered_map<std::string, std::uint64_t> pods_;           // by uid: the number of each
  std::map<std::uint64_t, decision::MisnamedScheduler> to_tell_;  // in the order of telling
  std::uint64_t numbers_ = 0;
};

}  // namespace sched
