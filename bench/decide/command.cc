#include "bench/decide/command.h"

#include "bench/decide/decide.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace bench::decide {

void configure(CLI::App& command, const sched::Registry& registry, int& exit_code) {
  auto options = std::make_shared<Options>();
  command.add_option("--nodes", options->nodes, "Nodes of the cluster; several: one after another")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--shapes", options->shapes, "Kinds of pods; several: one after another")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_option("--pods", options->pods, "Pods that come while it is measured")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  command.add_option("--waiting", options->waiting, "Pods that wait meanwhile, and are not placed")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  const std::map<std::string, WaitingFor> reasons{{"nodes", WaitingFor::kNodes},
                                                  {"quota", WaitingFor::kQuota}};
  command
      .add_option("--waiting-for", options->waiting_for,
                  "Why they wait: no node could hold them, or their GPU quota is used up")
      ->transform(CLI::CheckedTransformer(reasons));
  command
      .add_option("--quotas", options->quotas,
                  "GPU quotas of one cohort that contend, pods of every shape waiting in each, "
                  "instead of pods that come and go")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  command.add_option("--load", options->load, "Share of the cluster that pods hold")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Of what is drawn")->capture_default_str();
  command.add_option("--config", options->config,
                     "A KubeSchedulerConfiguration whose profile decides, instead of the default");
  command.add_option("--json", options->json, "A file for the figures");
  command.callback([options, &registry, &exit_code] {
    exit_code = run(*options, registry, std::cout, std::cerr);
  });
}

}  // namespace bench::decide
