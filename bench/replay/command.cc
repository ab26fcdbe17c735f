#include "bench/replay/command.h"

#include "bench/policies/registry.h"
#include "bench/replay/policies/policies.h"
#include "bench/replay/recording/replay_recording.h"
#include "bench/replay/replay.h"
#include "bench/replay/shares/merge.h"
#include "scheduler/live/signals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bench::replay {
namespace {

struct Command {
  ReplayOptions options;
  std::string recording;
  std::vector<std::string> merge;
};

std::string policy_help() {
  std::vector<std::string> names;
  for (const Policy& policy : built_in_policies()) names.push_back(policy.name);
  return fmt::format("A policy: one of {}; or a KubeSchedulerConfiguration in a file. Repeatable",
                     fmt::join(names, ", "));
}

// Repeatable options take one value each time.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& to,
                      const std::string& help) {
  return command.add_option(name, to, help)->expected(1)->take_all()->allow_extra_args(false);
}

void add_trace_options(CLI::App& command, Command& all) {
  ReplayOptions& options = all.options;
  CLI::Option* nodes = command.add_option("--nodes", options.nodes, "The cluster's nodes");
  CLI::Option* pods = add_list(command, "--pods", options.pods,
                               "The pods: openb CSV, plain CSV, or Kubernetes objects as YAML or "
                               "JSON. Repeatable, a trace each");
  CLI::Option* recording =
      command.add_option("--recording", all.recording,
                         "Instead of a trace what gpu-scheduler --record wrote. Without --policy: "
                         "compute its decisions again, exit 1 at the first that differs; with: "
                         "what that policy would have done");
  nodes->needs(pods)->excludes(recording);
  pods->needs(nodes)->excludes(recording);
  add_list(command, "--policy", options.policies, policy_help())->default_str("default");
}

void add_workload_options(CLI::App& command, ReplayOptions& options) {
  add_list(command, "--seed", options.seeds, "A number, or a range such as 42..51. Repeatable")
      ->default_str("42");
  command
      .add_option("--arrival", options.arrival,
                  "inflate:PERCENT (pods drawn until they ask for that much of the GPUs), "
                  "stationary:PERCENT (a stream that would fill that much), trace (as it was), "
                  "backlog (all at once)")
      ->capture_default_str();
  command
      .add_option("--life", options.life,
                  "How long pods of a stationary stream live: exponential, lognormal:SIGMA, trace")
      ->capture_default_str();
  command.add_option("--quotas", options.quotas,
                     "GpuQuota objects that limit the namespaces of the trace's pods; a YAML file");
  command.add_option("--until", options.until, "End after this much virtual time: 90s, 36h, 7d");
  const std::map<std::string, WhenFull> kWhenFull{{"refuse", WhenFull::kRefuse},
                                                  {"queue", WhenFull::kQueue}};
  command
      .add_option_function<std::string>(
          "--when-full",
          [&options, kWhenFull](const std::string& text) {
            options.when_full = kWhenFull.at(text);
          },
          "What becomes of a pod that does not fit: refuse, queue (default: refuse for inflate and "
          "stationary, queue for trace and backlog)")
      ->check(CLI::IsMember({"refuse", "queue"}));
  command
      .add_option_function<std::string>(
          "--typical-pods",
          [&options](const std::string& text) {
            options.typical_pods = text == "trace" ? TypicalPods::kTrace : TypicalPods::kLearned;
          },
          "How scores come to know the kinds of pods: learned (from those that came, as on a "
          "cluster), trace (all known from the start, as in the published protocol)")
      ->check(CLI::IsMember({"learned", "trace"}))
      ->default_str("learned");
}

void add_output_options(CLI::App& command, ReplayOptions& options) {
  command.add_option(
      "--out", options.out,
      "Folder for summary.json, steps.csv, report.html and, of --quotas, quotas.csv");
  command.add_flag("--decisions", options.decisions, "Also decisions.jsonl: each with its reasons")
      ->needs("--out");
  command
      .add_option("--snapshots", options.snapshots,
                  "When to draw the map of nodes and GPUs: % of arrival, or % of the time")
      ->delimiter(',')
      ->needs("--out");
  add_list(command, "--fail-if", options.fail_if,
           "Exit 1 if the mean of a policy meets it: 'unallocated>5.0'. Repeatable");
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& text) {
            options.format = text == "markdown" ? TableFormat::kMarkdown : TableFormat::kText;
          },
          "Of the table: table, markdown")
      ->check(CLI::IsMember({"table", "markdown"}))
      ->default_str("table");
  command
      .add_option("--jobs", options.jobs, "Runs at a time (default: as many as there are cores)")
      ->check(CLI::Range(1, 1'024));
}

void add_share_options(CLI::App& command, Command& all) {
  command
      .add_option("--share", all.options.share,
                  "INDEX/COUNT: make only this share of the runs, 0/8 to 7/8, and store each in "
                  "--out when it has ended. The same command continues a share that was killed")
      ->needs("--out");
  command.add_option("--merge", all.merge,
                     "Instead of running: the table, files and exit code of a study whose shares "
                     "are in these folders");
}

// The first Ctrl-C asks for a clean end; the second one ends the process.
int run(Command command) {
  sched::live::block_signals();
  std::atomic<bool> stop{false};
  std::atomic<int> signalled{0};
  const sched::live::Signals signals([&](int signal) {
    signalled = signal;
    stop = true;
  });
  ReplayOptions& options = command.options;
  options.progress = isatty(STDERR_FILENO) == 1;
  int code = kDone;
  if (!command.merge.empty()) {
    code = merge(command.merge, options, {std::cout, std::cerr});
  } else if (command.recording.empty()) {
    code = replay(options, bench::registry(), std::cout, std::cerr, stop);
  } else {
    code =
        replay_recording(command.recording, options, bench::registry(), std::cout, std::cerr, stop);
  }
  return signalled != 0 ? 128 + signalled : code;
}

// Options without effect are not silently accepted.
void check_combination(const CLI::App& command, const Command& all) {
  const auto given = [&](const char* option) { return command.count(option) > 0; };
  if (!all.merge.empty()) {
    const std::set<std::string> with_merge{"--merge", "--out", "--fail-if", "--format"};
    for (const CLI::Option* option : command.parse_order()) {
      const std::string name = option->get_name();
      if (with_merge.count(name) == 0) throw CLI::ExcludesError(name, "--merge");
    }
    return;
  }
  if (!all.options.share.empty()) {
    for (const char* option : {"--recording", "--decisions"}) {
      if (given(option)) throw CLI::ExcludesError(option, "--share");
    }
    for (const char* option : {"--fail-if", "--format"}) {
      if (given(option)) throw CLI::RequiresError(option, "--merge if there is a --share");
    }
  }
  if (all.recording.empty()) {
    if (all.options.nodes.empty()) {
      throw CLI::RequiredError("--nodes and --pods, or --recording, or --merge,");
    }
    if (given("--life") && all.options.arrival.rfind("stationary", 0) != 0) {
      throw CLI::ValidationError("--life", "is about stationary arrivals");
    }
    return;
  }
  for (const char* option : {"--arrival", "--life", "--when-full", "--quotas"}) {
    if (given(option)) throw CLI::ExcludesError(option, "--recording");
  }
  if (!all.options.policies.empty()) return;
  for (const char* option :
       {"--seed", "--until", "--typical-pods", "--out", "--fail-if", "--format", "--jobs"}) {
    if (given(option)) throw CLI::RequiresError(option, "--policy");
  }
}

}  // namespace

std::string same_results(const std::vector<std::string>& typed) {
  const std::set<std::string> about_the_work{"--out", "--jobs", "--share"};
  std::string command;
  bool is_value = false;
  for (const std::string& word : typed) {
    const bool is_left_out = about_the_work.count(word.substr(0, word.find('='))) > 0;
    if (!is_left_out && !is_value) command += (command.empty() ? "" : " ") + word;
    is_value = is_left_out && word.find('=') == std::string::npos;
  }
  return command;
}

void add_command(CLI::App& app, const std::vector<std::string>& typed, int& exit_code) {
  auto all = std::make_shared<Command>();
  CLI::App* command = app.add_subcommand(
      "replay", "What policies would have done with a trace, on the engine that runs clusters");
  add_trace_options(*command, *all);
  add_workload_options(*command, all->options);
  add_output_options(*command, all->options);
  add_share_options(*command, *all);
  command->footer(
      "Exit codes: 0 done; 1 a --fail-if condition holds, or a recording gives other decisions; 2 "
      "something given is unusable; 130 interrupted.\nFormats, figures and outputs: "
      "bench/replay/README.md");
  all->options.command_line = same_results(typed);
  command->callback([all, command, &exit_code] {
    check_combination(*command, *all);
    exit_code = run(*all);
  });
}

}  // namespace bench::replay
