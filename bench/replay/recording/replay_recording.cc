#include "bench/replay/recording/replay_recording.h"

#include "bench/replay/arguments.h"
#include "bench/replay/output/folder.h"
#include "bench/replay/recording/as_recorded.h"
#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/recording/rerun.h"
#include "bench/replay/recording/site_settings.h"
#include "bench/replay/recording/with_policy.h"
#include "bench/replay/study.h"
#include "bench/replay/trace/check_gpus.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <chrono>
#include <map>
#include <ostream>
#include <utility>
#include <variant>
#include <vector>

namespace bench::replay {
namespace {

std::vector<std::string> served_names(const sched::config::Configuration& config) {
  std::vector<std::string> names;
  for (const sched::Profile& profile : config.profiles) names.push_back(profile.scheduler_name);
  return names;
}

// Each state of each node, since it is drawn and counted GPU by GPU.
k8s::Result<void> check_nodes(const Recording& recording) {
  for (const auto& call : recording.calls) {
    const auto* applied = std::get_if<sched::live::AppliedCall>(&call);
    if (applied == nullptr) continue;
    const auto* node = std::get_if<sched::event::NodeUpserted>(&applied->event);
    if (node == nullptr) continue;
    if (auto checked = check_gpus(node->object); !checked) return checked;
  }
  return {};
}

// The report's data of a trace: the nodes, in the order in which they were first seen.
Trace trace_of(const Recording& recording, const RecordedPods& pods) {
  Trace trace;
  trace.name = recording.name;
  std::map<std::string, std::size_t> known;
  for (const auto& call : recording.calls) {
    const auto* applied = std::get_if<sched::live::AppliedCall>(&call);
    if (std::holds_alternative<sched::live::StepCall>(call)) ++trace.counts["steps"];
    if (applied == nullptr) continue;
    ++trace.counts["events"];
    const auto* node = std::get_if<sched::event::NodeUpserted>(&applied->event);
    if (node == nullptr) continue;
    const auto [found, is_new] = known.try_emplace(node->object.metadata.name, trace.nodes.size());
    if (is_new) trace.nodes.push_back(node->object);
  }
  trace.counts["nodes"] = trace.nodes.size();
  trace.counts["pods"] = pods.size();
  trace.counts["pods to decide on"] = pods.ours();
  return trace;
}

// A recording is over time, like an unchanged trace.
ReplayOptions over_time(ReplayOptions options) {
  options.arrival = "trace";
  return options;
}

// For summary.json: the recording is in the place of a trace's arrival.
std::vector<std::pair<std::string, std::string>> in_words(const Arguments& arguments,
                                                          const std::string& recording) {
  std::vector<std::pair<std::string, std::string>> words{{"recording", recording}};
  for (const auto& word : arguments.in_words) {
    if (word.first != "arrival" && word.first != "when-full") words.push_back(word);
  }
  return words;
}

// Prints where calls are missing between others.
void write_lost_calls(std::ostream& out, const Recording& recording) {
  std::size_t gaps = 0;
  sched::live::LostCalls all;
  for (const auto& call : recording.calls) {
    const auto* lost = std::get_if<sched::live::LostCalls>(&call);
    if (lost == nullptr) continue;
    if (gaps++ == 0) all.at = lost->at;
    all.events += lost->events;
    all.decisions += lost->decisions;
  }
  if (gaps == 0) return;
  const double seconds = std::chrono::duration<double>(all.at - recording.begin()).count();
  out << fmt::format(
      "gaps: {}, the first {:.0f} s after the beginning; {} events and {} decisions are missing, "
      "as far as is known: figures may be wrong from there on\n",
      gaps, seconds, all.events, all.decisions);
}

// Prints what the recording does not contain.
void write_gaps(std::ostream& out, const Recording& recording) {
  if (recording.was_cut) out << "the last line is cut off and was left out\n";
  for (const std::string& damage : recording.damages) out << damage << '\n';
  write_lost_calls(out, recording);
  if (!recording.header.snapshot) return;
  out << "begins with a snapshot of the cluster's objects: what was decided before is not in it\n";
}

// Shared by all runs; outlives them.
struct SharedOnRecording {
  const Recording& recording;
  const RecordedPods& pods;
  const RecordedOutcome& recorded;
  const Arguments& arguments;
  const ReplayOptions& options;
  const sched::Registry& registry;
  OutputFolder& folder;
  const std::atomic<bool>& stop;
};

k8s::Result<Result> run_with(const Policy& policy, std::uint64_t seed, std::size_t index,
                             const SharedOnRecording& shared) {
  RunOptions options{.seed = seed,
                     .when_full = WhenFull::kQueue,
                     .typical_pods = shared.options.typical_pods,
                     .snapshots_at = {},
                     .stop = &shared.stop};
  if (seed == shared.arguments.seeds.front()) options.snapshots_at = shared.arguments.snapshots;
  return with_decisions(shared.folder, shared.options.decisions, index, [&](std::ostream* log) {
    options.decisions = log;
    return with_policy(shared.recording, shared.pods, shared.recorded.placements, policy,
                       shared.registry, options);
  });
}

std::vector<PlannedRun> runs_of_recording(const SharedOnRecording& shared) {
  std::vector<PlannedRun> runs;
  const auto add = [&](std::string name, auto run) {
    runs.push_back({std::move(name), [shared, run]() -> k8s::Result<Result> {
                      auto result = run();
                      if (!result) return result;
                      result->trace = shared.recording.name;
                      result->arrival = "recording";
                      return result;
                    }});
  };
  add("recorded", [shared]() -> k8s::Result<Result> { return shared.recorded.result; });
  for (const Policy& policy : shared.arguments.policies) {
    for (const std::uint64_t seed : shared.arguments.seeds) {
      const std::size_t index = runs.size();
      add(fmt::format("{}, seed {}", policy.name, seed),
          [&policy, seed, index, shared] { return run_with(policy, seed, index, shared); });
    }
  }
  return runs;
}

}  // namespace

int replay_recording(const std::string& file, const ReplayOptions& options,
                     const sched::Registry& registry, std::ostream& out, std::ostream& complaints,
                     const std::atomic<bool>& stop) {
  if (options.policies.empty()) return rerun(file, registry, out, complaints, &stop);
  const auto arguments = check(over_time(options), registry);
  if (!arguments) return unusable(complaints, arguments.error());
  auto recording = read_recording(file);
  if (!recording) return unusable(complaints, recording.error());
  if (arguments->until) cut(*recording, *arguments->until);
  if (auto checked = check_nodes(*recording); !checked) {
    return unusable(complaints, k8s::with_context(std::move(checked.error()), file));
  }
  const auto config = recorded_config(recording->header, registry);
  if (!config) return unusable(complaints, config.error());
  auto folder = OutputFolder::open(options.out);
  if (!folder) return unusable(complaints, folder.error());

  const RecordedPods pods(*recording, served_names(*config));
  const std::vector<Trace> traces{trace_of(*recording, pods)};
  write_counts(out, traces);
  write_gaps(out, *recording);
  const RecordedOutcome recorded =
      as_recorded(*recording, pods, arguments->snapshots, config->engine.site_labels);
  const Study study{.runs = runs_of_recording(
                        {*recording, pods, recorded, *arguments, options, registry, *folder, stop}),
                    .traces = traces,
                    .fail_if = arguments->fail_if,
                    .options = in_words(*arguments, recording->name)};
  return carry_out(study, options, *folder, out, complaints, stop);
}

}  // namespace bench::replay
