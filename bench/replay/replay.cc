#include "bench/replay/replay.h"

#include "bench/replay/arguments.h"
#include "bench/replay/output/folder.h"
#include "bench/replay/output/table.h"
#include "bench/replay/study.h"

#include <fmt/format.h>

#include <ostream>
#include <utility>

namespace bench::replay {
namespace {

// Shared by all runs on traces; outlives them.
struct Shared {
  const Arguments& arguments;
  const ReplayOptions& options;
  const sched::Registry& registry;
  OutputFolder& folder;
  const std::atomic<bool>& stop;
};

struct Place {
  const Trace* trace = nullptr;
  const Policy* policy = nullptr;
  std::uint64_t seed = 0;
  std::size_t index = 0;  // among all runs
};

k8s::Result<Result> run_at(const Place& at, const Shared& shared) {
  const Arguments& arguments = shared.arguments;
  const auto workload = arrange(*at.trace, arguments.arrival, at.seed);
  if (!workload) return tl::unexpected<k8s::Error>(workload.error());
  RunOptions options{.seed = at.seed,
                     .when_full = arguments.when_full,
                     .typical_pods = shared.options.typical_pods,
                     .until = arguments.until,
                     .snapshots_at = {},
                     .quotas = arguments.quotas.empty() ? nullptr : &arguments.quotas,
                     .stop = &shared.stop};
  // One map per policy is enough, not one per seed.
  if (at.seed == arguments.seeds.front()) options.snapshots_at = arguments.snapshots;
  return with_decisions(shared.folder, shared.options.decisions, at.index, [&](std::ostream* log) {
    options.decisions = log;
    auto result = run(*at.trace, *workload, *at.policy, shared.registry, options);
    if (result) result->arrival = arguments.arrival_text;
    return result;
  });
}

std::vector<PlannedRun> planned_runs(const Shared& shared) {
  std::vector<PlannedRun> runs;
  for (const Trace& trace : shared.arguments.traces) {
    for (const Policy& policy : shared.arguments.policies) {
      for (const std::uint64_t seed : shared.arguments.seeds) {
        const Place at{&trace, &policy, seed, runs.size()};
        runs.push_back({fmt::format("{} on {}, seed {}", policy.name, trace.name, seed),
                        [at, shared] { return run_at(at, shared); }});
      }
    }
  }
  return runs;
}

}  // namespace

int replay(const ReplayOptions& options, const sched::Registry& registry, std::ostream& out,
           std::ostream& complaints, const std::atomic<bool>& stop) {
  auto arguments = check(options, registry);
  if (!arguments) return unusable(complaints, arguments.error());
  auto folder = OutputFolder::open(options.out);
  if (!folder) return unusable(complaints, folder.error());
  write_counts(out, arguments->traces);
  out << std::flush;
  const Study study{.runs = planned_runs({*arguments, options, registry, *folder, stop}),
                    .traces = arguments->traces,
                    .fail_if = arguments->fail_if,
                    .options = arguments->in_words};
  return carry_out(study, options, *folder, out, complaints, stop);
}

}  // namespace bench::replay
