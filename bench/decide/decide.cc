#include "bench/decide/decide.h"

#include "bench/decide/churn.h"
#include "bench/decide/contention.h"
#include "bench/decide/crowd.h"
#include "bench/decide/figures.h"
#include "bench/decide/ruled.h"
#include "bench/decide/trials.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>

namespace bench::decide {

namespace {

k8s::Result<sched::config::Configuration> configuration_of(const Options& options,
                                                           const sched::Registry& registry) {
  auto made = options.config.empty()
                  ? sched::config::parse("", "the default configuration", registry)
                  : sched::config::load(options.config, registry);
  if (made && options.stored > 0) made->engine.memory.shapes = options.stored << 20U;
  return made;
}

// Each measurement has its own engine, with its own plugins.
k8s::Result<Figures> measure(const Scenario& scenario, const Options& options,
                             const sched::Registry& registry) {
  auto configuration = configuration_of(options, registry);
  if (!configuration) return tl::unexpected(configuration.error());
  sched::Engine engine(std::move(configuration->profiles), configuration->engine);
  const Outcome outcome =
      scenario.quotas > 0 ? Contention(engine, scenario).run() : Churn(engine, scenario).run();
  return figures_of(scenario, outcome);
}

// A line for every number of nodes with every number of shapes.
k8s::Result<void> try_all(const Options& options, const sched::Registry& registry,
                          std::ostream& out) {
  out << "| nodes | shapes | pods on nodes | trials/s | a node more took the pod |\n"
         "| --- | --- | --- | --- | --- |\n";
  for (const std::size_t shapes : options.shapes) {
    for (const std::size_t nodes : options.nodes) {
      auto configuration = configuration_of(options, registry);
      if (!configuration) return tl::unexpected(configuration.error());
      const TrialFigures figures =
          run_trials(std::move(configuration->profiles), configuration->engine,
                     {.nodes = nodes,
                      .shapes = shapes,
                      .pods = options.trials,
                      .load = options.load,
                      .seed = options.seed});
      const auto trials = static_cast<double>(figures.trials);
      out << fmt::format("| {} | {} | {} | {:.0f} | {:.1f} % |\n", nodes, shapes, figures.pods,
                         trials / figures.cpu_seconds,
                         100.0 * static_cast<double>(figures.helped) / trials);
    }
  }
  return {};
}

// A line for every number of nodes with every rule.
k8s::Result<void> try_rules(const Options& options, const sched::Registry& registry,
                            std::ostream& out) {
  out << "| nodes | pods | bound | decisions/s |\n| --- | --- | --- | --- |\n";
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    for (const std::size_t nodes : options.nodes) {
      auto configuration = configuration_of(options, registry);
      if (!configuration) return tl::unexpected(configuration.error());
      sched::Engine engine(std::move(configuration->profiles), configuration->engine);
      const std::size_t pods = std::min(options.pods, nodes);
      const RuledFigures figures = run_ruled(engine, rule, nodes, pods);
      out << fmt::format("| {} | {} | {} | {:.0f} |\n", nodes, kRules[rule].what, figures.bound,
                         static_cast<double>(pods) / figures.cpu_seconds);
    }
  }
  return {};
}

// A line for every number of nodes with every crowd.
k8s::Result<void> try_crowds(const Options& options, const sched::Registry& registry,
                             std::ostream& out) {
  out << "| nodes | another tenant's pods | they came in | a neighbour's turn | half within | 99 % "
         "within | heap | bound |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const std::vector<std::string>& some = options.crowds;
  for (std::size_t crowd = 0; crowd < kCrowds.size(); ++crowd) {
    if (crowd > 0 && !some.empty() &&
        std::find(some.begin(), some.end(), kCrowds[crowd].name) == some.end())
      continue;
    for (const std::size_t nodes : options.nodes) {
      auto configuration = configuration_of(options, registry);
      if (!configuration) return tl::unexpected(configuration.error());
      sched::Engine engine(std::move(configuration->profiles), configuration->engine);
      const CrowdFigures figures = run_crowd(engine, crowd, nodes, options.crowd, options.pods);
      out << fmt::format(
                 "| {} | {} | {:.2f} s | {:.0f} µs | {:.0f} µs | {:.0f} µs | {:.0f} MB | {} |\n",
                 nodes, kCrowds[crowd].what, figures.came_seconds, figures.mean_us,
                 figures.median_us, figures.longest_us,
                 static_cast<double>(figures.held_bytes) / 1e6, figures.bound)
          << std::flush;
    }
  }
  return {};
}

int complain(std::ostream& err, const std::string& what) {
  err << "decide: " << what << '\n';
  return 2;
}

// Does not change an existing file: a run that fails leaves the figures of an earlier one.
bool can_write(const std::string& file) { return std::ofstream(file, std::ios::app).is_open(); }

}  // namespace

int run(const Options& options, const sched::Registry& registry, std::ostream& out,
        std::ostream& err) {
  const std::string unwritable = "--json: cannot write " + options.json;
  if (const auto usable = configuration_of(options, registry); !usable) {
    return complain(err, usable.error().message);
  }
  if (!options.json.empty() && !can_write(options.json)) return complain(err, unwritable);
  if (options.trials > 0) {
    const auto tried = try_all(options, registry, out);
    return tried ? 0 : complain(err, tried.error().message);
  }
  if (options.rules) {
    const auto tried = try_rules(options, registry, out);
    return tried ? 0 : complain(err, tried.error().message);
  }
  if (options.crowd > 0) {
    const auto tried = try_crowds(options, registry, out);
    return tried ? 0 : complain(err, tried.error().message);
  }
  std::vector<Figures> runs;
  write_head(out);
  for (const std::size_t shapes : options.shapes) {
    for (const std::size_t nodes : options.nodes) {
      const auto figures = measure({.nodes = nodes,
                                    .shapes = shapes,
                                    .warm_up = options.quotas > 0 ? 0 : options.warm_up,
                                    .pods = options.pods,
                                    .waiting = options.waiting,
                                    .waiting_for = options.waiting_for,
                                    .quotas = options.quotas,
                                    .load = options.load,
                                    .seed = options.seed},
                                   options, registry);
      if (!figures) return complain(err, figures.error().message);
      write_line(out, *figures);
      runs.push_back(*figures);
    }
  }
  if (options.json.empty()) return 0;
  std::ofstream json(options.json);
  write_json(json, runs);
  json.close();
  return json ? 0 : complain(err, unwritable);
}

}  // namespace bench::decide
