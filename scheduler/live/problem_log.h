// API problems for the log: each once, however often it repeats.
//
// A broken API server fails thousands of calls in one way or two. The first failure of a cause is a
// line with the time of the next try; repeats are counted, also where causes alternate, and the
// count is told when it works again. On the event loop's thread.
#pragma once

#include "k8s-client/error.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace sched::live {

class ProblemLog {
 public:
  // `source` is what keeps failing: "watch pods", "bind". `retry_in` zero: not tried again.
  void report(const std::string& source, const k8s::Error& error,
              std::chrono::milliseconds retry_in);
  // `source` works (again). Cheap when it had no problem.
  void resolved(const std::string& source);

 private:
  struct Problem {
    std::set<std::string> causes;  // that were told
    std::uint64_t repeats = 0;
  };
  std::map<std::string, Problem> open_;  // by source
};

}  // namespace sched::live
