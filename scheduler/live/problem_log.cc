#include "scheduler/live/problem_log.h"

#include "scheduler/live/log.h"

#include <fmt/format.h>

#include <cstddef>

namespace sched::live {

namespace {

// Bounds the memory: after so many different causes of one source all are forgotten, and may be
// logged again.
constexpr std::size_t kMostCauses = 16;

const std::string kServer = "API server";

// Whether the error means that the server gives no answer. Which such error occurs changes while a
// server goes down. A TLS error is none of them, because there something does answer.
bool is_servers(const k8s::Error& error) {
  return error.got_no_answer() && error.kind != k8s::ErrorKind::kTls;
}

// Messages name the object, which differs from call to call; the cause is the common part. For
// objects that cannot be read, each object is a cause.
std::string cause_of(const k8s::Error& error) {
  if (error.kind == k8s::ErrorKind::kDecode) return error.message;
  if (is_servers(error)) return "no answer";
  return fmt::format("{} {} {}", static_cast<int>(error.kind), error.http_status, error.reason);
}

}  // namespace

void ProblemLog::report(const std::string& source, const k8s::Error& error,
                        std::chrono::milliseconds retry_in) {
  const std::string& what = is_servers(error) ? kServer : source;
  Problem& problem = open_[what];
  problem.end.reset();
  if (problem.causes.size() == kMostCauses) problem.causes.clear();
  if (!problem.causes.insert(cause_of(error)).second) {
    ++problem.repeats;
    return;
  }
  LogLine line("problem");
  line.with("what", what).with("error", error.message);
  if (retry_in.count() > 0) line.with("retry_in_ms", retry_in.count());
  line.warning();
}

void ProblemLog::resolved(const std::string& source) {
  if (open_.empty()) return;
  works(source);
  works(kServer);
}

void ProblemLog::works(const std::string& source) {
  const auto found = open_.find(source);
  if (found == open_.end() || found->second.end) return;
  found->second.end = loop_.after(kWellAfter, [this, source] { close(source); });
}

void ProblemLog::close(const std::string& source) {
  const auto found = open_.find(source);
  LogLine("resolved").with("what", source).with("repeats", found->second.repeats).info();
  open_.erase(found);
}

}  // namespace sched::live
