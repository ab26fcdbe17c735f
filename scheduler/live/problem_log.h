// API problems in the log: each once, however often it repeats.
//
// A broken API server fails thousands of calls in one or two ways. The first failure of a cause is
// a line with the time of the next try. Repeats are counted, even if causes alternate, and their
// number is logged when it works again.
//
// Where no answer comes at all, it is the server's trouble and not that of one watch or of binds:
// the source is then "API server", whatever failed, and one line tells of it. It is over when
// anything has worked and nothing has been without an answer for kWellAfter.
//
// A server that fails one call in five works again after each failure. So a source counts as well
// only when it has worked and then had no problem for kWellAfter. A failure before that belongs to
// the same trouble, and only a new cause is logged. On the event loop's thread.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace sched::live {

// As long as this scheduler's longest pause between two tries to bind a pod or to write its status;
// that of a watch is 6 s. So what failed has usually been tried again before its trouble counts as
// over. Not included: the time until that try fails, longer pauses that a server asks for
// (Retry-After), and the pauses between two tries to write a quota's status, up to a minute. A
// failure that comes later, while others of its kind work, is a trouble of its own, and logged
// again.
inline constexpr std::chrono::seconds kWellAfter{10};

class ProblemLog {
 public:
  // `loop` must outlive it.
  explicit ProblemLog(k8s::EventLoop& loop) : loop_(loop) {}

  // `source` names what fails: "watch pods", "bind". `retry_in` zero: it is not tried again.
  void report(const std::string& source, const k8s::Error& error,
              std::chrono::milliseconds retry_in);
  // `source` works (again). Cheap when it had no problem.
  void resolved(const std::string& source);

 private:
  struct Problem {
    std::set<std::string> causes;  // those that were logged
    std::uint64_t repeats = 0;
    std::unique_ptr<k8s::Timer> end;  // runs while it works
  };

  void works(const std::string& source);
  void close(const std::string& source);

  k8s::EventLoop& loop_;
  std::map<std::string, Problem> open_;  // by source
};

}  // namespace sched::live
