#include "bench/decide/command.h"

#include "bench/decide/crowd.h"
#include "bench/decide/decide.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace bench::decide {
namespace {

// CLI's range check accepts nan.
std::string is_number(const std::string& text) {
  return std::isfinite(std::strtod(text.c_str(), nullptr)) ? "" : text + " is not a number";
}

}  // namespace

void configure(CLI::App& command, const sched::Registry& registry, int& exit_code) {
  auto options = std::make_shared<Options>();
  command.add_option("--nodes", options->nodes, "Nodes of the cluster; several: one after another")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--shapes", options->shapes, "Kinds of pods; several: one after another")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_option("--pods", options->pods, "Pods that come while it is measured")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--warm-up", options->warm_up,
                  "Pods that come and go before: the engine learns the workload")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  auto* waiting =
      command
          .add_option("--waiting", options->waiting, "Pods that wait meanwhile, and are not placed")
          ->check(CLI::Range(0, 10'000'000))
          ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--waiting-for",
          [options](const std::string& what) {
            options->waiting_for = what == "quota" ? WaitingFor::kQuota : WaitingFor::kNodes;
          },
          "Why they wait: no node could hold them, or their GPU quota is used up")
      ->check(CLI::IsMember({"nodes", "quota"}))
      ->needs(waiting);
  command
      .add_option("--quotas", options->quotas,
                  "Instead of pods that come and go: so many GPU quotas of one cohort that use all "
                  "they may, with a waiting pod of every shape in each; --warm-up has no effect")
      ->check(CLI::Range(0, 100'000))
      ->excludes(waiting)
      ->capture_default_str();
  command
      .add_option("--trials", options->trials,
                  "Instead of pods that come and go: so many questions where a pod would go if one "
                  "to four others of a node were gone")
      ->check(CLI::Range(0, 1'000'000'000))
      ->excludes(waiting)
      ->capture_default_str();
  command.add_flag("--rules", options->rules,
                   "Instead of pods that come and go: pods with rules across nodes, which come and "
                   "stay; --pods of each, as many as nodes at most");
  command
      .add_option("--preempting", options->preempting,
                  "Instead of pods that come and go: so many pods that find no room and evict "
                  "others, one after another, of several kinds")
      ->check(CLI::Range(0, 1'000'000))
      ->excludes(waiting)
      ->capture_default_str();
  command
      .add_option("--groups", options->groups,
                  "Instead of pods that come and go: so many groups whose pods start together, one "
                  "after another, of several kinds")
      ->check(CLI::Range(0, 1'000'000))
      ->excludes(waiting)
      ->capture_default_str();
  auto* crowd =
      command
          .add_option(
              "--crowd", options->crowd,
              "Instead: a crowd of so many pods of another tenant, of several kinds one after "
              "another, and --pods of a neighbour that come and go meanwhile")
          ->check(CLI::Range(0, 1'000'000))
          ->capture_default_str();
  std::vector<std::string> kinds;
  for (const Crowd& each : kCrowds) kinds.emplace_back(each.name);
  command
      .add_option("--crowds", options->crowds,
                  "Only these kinds of crowds, besides a run without a crowd")
      ->check(CLI::IsMember(kinds))
      ->needs(crowd);
  command
      .add_option("--stored", options->stored,
                  "MiB that the engine may take for what it stores of shapes, as --memory-limit of "
                  "gpu-scheduler makes it; 0: as without a limit")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--load", options->load, "Share of the cluster that pods hold")
      ->check(CLI::Range(0.0, 1.0) & CLI::Validator(is_number, ""))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Of what is drawn")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--config", options->config,
                     "A KubeSchedulerConfiguration whose profile decides, instead of the default");
  add_output(command, options->output);
  command.add_option("--json", options->json, "A file for the figures, besides");
  command.callback([options, &registry, &exit_code] {
    exit_code = run(*options, registry, std::cout, std::cerr);
  });
}

}  // namespace bench::decide
