// API problems in the log: each once, however often it repeats.
//
// A broken API server fails thousands of calls in one or two ways. The first failure of a cause is
// a line with the time of the next try. Repeats are counted, even if causes alternate, and their
// number is logged when it works again.
//
// If calls get no answer at all, the server has the problem, not one watch or the binds. Such
// failures are logged in one line under the source "API server", whichever call failed. That
// problem is over when some call has worked and, for kWellAfter since then, no call was without an
// answer.
//
// A server that fails one call in five works again after each failure. So the problem of a source
// is over only when the source has worked and then not failed for kWellAfter. A failure before that
// belongs to the same problem, and is logged only if its cause is new. On the event loop's thread.
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
// the longest pause of a watch is 6 s. So a call that failed has usually been tried again before
// its problem counts as over. Where the statuses of very many pods are refused, each has longer
// pauses, but one of them is tried in time. Not included: the time until that try fails, longer
// pauses that a server asks for (Retry-After), and the pauses between two tries to write a quota's
// status, up to a minute. A later failure, after other calls of its kind have worked, is a new
// problem and is logged again.
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
