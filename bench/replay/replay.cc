#include "bench/replay/replay.h"

#include "bench/replay/arguments.h"
#include "bench/replay/output/folder.h"
#include "bench/replay/output/table.h"
#include "bench/replay/shares/digest.h"
#include "bench/replay/shares/make_share.h"
#include "bench/replay/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <utility>

namespace bench::replay {
namespace {

// Shared by all runs on traces; outlives them.
struct SharedOnTraces {
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

k8s::Result<Result> run_at(const Place& at, const SharedOnTraces& shared) {
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

std::vector<PlannedRun> runs_on_traces(const SharedOnTraces& shared) {
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

// What the results depend on besides the options in words.
k8s::Result<Words> inputs_of(const ReplayOptions& options, const Arguments& arguments) {
  Words inputs{{"--snapshots", fmt::format("{}", fmt::join(arguments.snapshots, ","))}};
  for (const Policy& policy : arguments.policies) {
    inputs.emplace_back("policy " + policy.name, sha256(policy.config));
  }
  Words files{{"--nodes", options.nodes}};
  for (std::size_t i = 0; i < options.pods.size(); ++i) {
    files.emplace_back("--pods of " + arguments.traces[i].name, options.pods[i]);
  }
  if (!options.quotas.empty()) files.emplace_back("--quotas", options.quotas);
  for (auto& [name, file] : files) {
    auto digest = sha256_of_file(file);
    if (!digest) return tl::unexpected<k8s::Error>(std::move(digest.error()));
    inputs.emplace_back(std::move(name), *std::move(digest));
  }
  return inputs;
}

}  // namespace

int replay(const ReplayOptions& options, const sched::Registry& registry, std::ostream& out,
           std::ostream& complaints, const std::atomic<bool>& stop) {
  const auto share = parse_share(options.share.empty() ? "0/1" : options.share);
  if (!share) return unusable(complaints, share.error());
  auto arguments = check(options, registry);
  if (!arguments) return unusable(complaints, arguments.error());
  // A share's folder may have other shares, and gets files of its own.
  auto folder = OutputFolder::open(options.share.empty() ? options.out : "");
  if (!folder) return unusable(complaints, folder.error());
  write_counts(out, arguments->traces);
  out << std::flush;
  Study study{.runs = runs_on_traces({*arguments, options, registry, *folder, stop}),
              .traces = arguments->traces,
              .fail_if = arguments->fail_if,
              .options = arguments->in_words};
  if (!options.share.empty()) {
    auto inputs = inputs_of(options, *arguments);
    if (!inputs) return unusable(complaints, inputs.error());
    study.inputs = *std::move(inputs);
    return make_share(study, *share, options, {out, complaints}, stop);
  }
  return carry_out(study, options, *folder, out, complaints, stop);
}

}  // namespace bench::replay
