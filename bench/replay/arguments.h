// The checked arguments of the command line: texts become values.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/output/fail_if.h"
#include "bench/replay/policies/policies.h"
#include "bench/replay/replay.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::replay {

struct Arguments {
  std::vector<Trace> traces;
  std::vector<Policy> policies;
  std::vector<std::uint64_t> seeds;
  std::string arrival_text;
  ArrivalMode arrival;
  WhenFull when_full = WhenFull::kRefuse;
  std::optional<Moment> until;
  std::vector<double> snapshots;
  std::vector<k8s::GpuQuota> quotas;
  std::vector<Condition> fail_if;
  // All of the above that affect the results, as text.
  std::vector<std::pair<std::string, std::string>> in_words;
};

// Also reads the traces. Every policy is tried with the registry, so that no error appears after
// minutes of work.
[[nodiscard]] k8s::Result<Arguments> check(const ReplayOptions& options,
                                           const sched::Registry& registry);

// "42" → 42; "42..45" → 42, 43, 44, 45.
[[nodiscard]] k8s::Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text);
// "90s", "30m", "36h", "7d".
[[nodiscard]] k8s::Result<Moment> parse_duration(std::string_view text);

}  // namespace bench::replay
