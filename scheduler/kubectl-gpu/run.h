// kubectl-gpu from its command line to its exit code.
#pragma once

#include "scheduler/kubectl-gpu/table.h"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

inline constexpr int kUnreadable = 1;  // the cluster cannot be read, or the pod does not exist
inline constexpr int kBadUsage = 2;
inline constexpr int kWouldWait = 3;  // `plan`: pods of its files would wait

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  Style style;  // without `wide` and `now`
  Time (*now)();
  // Ends the process after the last answer; nullptr: run() returns. This skips the destructors,
  // which would take 0.14 s of 0.95 for a cluster of 60,000 pods.
  void (*end)(int code) = nullptr;
};

// `arguments` without the program's name.
[[nodiscard]] int run(const std::vector<std::string>& arguments, std::string_view version,
                      const Terminal& terminal);

}  // namespace sched::kubectl
