#include "scheduler/live/problem_log.h"

#include "scheduler/live/log.h"

#include <fmt/format.h>

namespace sched::live {

namespace {

// Messages name the object, which differs from call to call; the cause is what they share.
std::string cause_of(const k8s::Error& error) {
  return fmt::format("{} {} {}", static_cast<int>(error.kind), error.http_status, error.reason);
}

}  // namespace

void ProblemLog::report(const std::string& source, const k8s::Error& error,
                        std::chrono::milliseconds retry_in) {
  Problem& problem = open_[source];
  std::string cause = cause_of(error);
  if (problem.cause == cause) {
    ++problem.repeats;
    return;
  }
  LogLine line("problem");
  line.with("what", source).with("error", error.message);
  if (retry_in.count() > 0) line.with("retry_in_ms", retry_in.count());
  if (problem.repeats > 0) line.with("repeats_of_the_one_before", problem.repeats);
  line.warning();
  problem = {std::move(cause), 0};
}

void ProblemLog::resolved(const std::string& source) {
  if (open_.empty()) return;
  const auto found = open_.find(source);
  if (found == open_.end()) return;
  LogLine("resolved").with("what", source).with("repeats", found->second.repeats).info();
  open_.erase(found);
}

}  // namespace sched::live
