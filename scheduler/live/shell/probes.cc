#include "scheduler/live/shell/probes.h"

#include "scheduler/live/shell/parts.h"

#include <fmt/format.h>

#include <vector>

namespace sched::live {
namespace {

// Longer than it takes where the API server answers.
constexpr std::chrono::seconds kReadsQuotasSlowly{5};

}  // namespace

server::Check engine_check(std::chrono::nanoseconds working_for) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(working_for);
  return {.name = "engine",
          .passed = working_for < kEngineHangsAfter,
          .why_not = fmt::format("one event, decision or question has taken {} s so far",
                                 seconds.count())};
}

server::Check remembered_quotas_check(std::chrono::nanoseconds reading_for) {
  const bool is_slow = reading_for >= kReadsQuotasSlowly;
  return {.name = "remembered-quotas",
          .passed = reading_for < kReadsQuotasWithin,
          .why_not = "leads, but cannot read which quotas there were, and so decides nothing",
          .note = is_slow ? "decides nothing before it has read which quotas there were" : ""};
}

std::vector<server::Check> Shell::Parts::liveness() const {
  return {engine_check(engine_->working_for(Heartbeat::Clock::now()))};
}

std::vector<server::Check> Shell::Parts::readiness() const {
  std::vector<server::Check> checks = liveness();
  for (const Intake::Source& source : intake_->sources()) {
    const bool passed = source.synced && source.in_contact;
    checks.push_back({.name = "watch-" + source.kind,
                      .passed = passed,
                      .why_not = source.synced ? "no sign of life from the API server for minutes"
                                               : "not synced yet",
                      .note = source.unreadable == 0
                                  ? ""
                                  : fmt::format("objects that cannot be read, see the log: {}",
                                                source.unreadable)});
  }
  if (leadership_) {
    // A standby that knows the cluster is as ready as can be.
    checks.push_back({.name = "leader-election",
                      .passed = !leadership_->leads() || leadership_->may_bind(),
                      .why_not = "leads, but the lease has not been renewed in time to bind"});
    checks.push_back(remembered_quotas_check(
        reads_quotas_since_ ? loop_->now() - *reads_quotas_since_ : Clock::duration::zero()));
  }
  checks.push_back(
      {.name = "shutdown", .passed = !shutting_down_, .why_not = "the process is shutting down"});
  return checks;
}

}  // namespace sched::live
