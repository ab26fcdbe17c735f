#include "bench/decide/decide.h"

#include "bench/decide/churn.h"
#include "bench/decide/contention.h"
#include "bench/decide/crowd.h"
#include "bench/decide/figures.h"
#include "bench/decide/report.h"
#include "bench/decide/ruled.h"
#include "bench/decide/trials.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

// What one run is of. `kind`: the number of shapes, or an index in kRules or kCrowds.
struct Cell {
  std::size_t nodes = 0;
  std::size_t kind = 0;
};

std::vector<Cell> cells_of(const std::vector<std::size_t>& kinds, const Options& options) {
  std::vector<Cell> cells;
  for (const std::size_t kind : kinds) {
    for (const std::size_t nodes : options.nodes) cells.push_back({nodes, kind});
  }
  return cells;
}

Figures measure_churn(const Options& options, const Cell& cell,
                      sched::config::Configuration configuration) {
  const Scenario scenario{.nodes = cell.nodes,
                          .shapes = cell.kind,
                          .warm_up = options.quotas > 0 ? 0 : options.warm_up,
                          .pods = options.pods,
                          .waiting = options.waiting,
                          .waiting_for = options.waiting_for,
                          .quotas = options.quotas,
                          .load = options.load,
                          .seed = options.seed};
  sched::Engine engine(std::move(configuration.profiles), configuration.engine);
  return figures_of(scenario, scenario.quotas > 0 ? Contention(engine, scenario).run()
                                                  : Churn(engine, scenario).run());
}

TrialRun measure_trials(const Options& options, const Cell& cell,
                        sched::config::Configuration configuration) {
  return {.nodes = cell.nodes,
          .shapes = cell.kind,
          .figures = run_trials(std::move(configuration.profiles), configuration.engine,
                                {.nodes = cell.nodes,
                                 .shapes = cell.kind,
                                 .pods = options.trials,
                                 .load = options.load,
                                 .seed = options.seed})};
}

RuledRun measure_rule(const Options& options, const Cell& cell,
                      sched::config::Configuration configuration) {
  sched::Engine engine(std::move(configuration.profiles), configuration.engine);
  const std::size_t pods = std::min(options.pods, cell.nodes);
  return {.nodes = cell.nodes,
          .rule = cell.kind,
          .pods = pods,
          .figures = run_ruled(engine, cell.kind, cell.nodes, pods)};
}

CrowdRun measure_crowd(const Options& options, const Cell& cell,
                       sched::config::Configuration configuration) {
  sched::Engine engine(std::move(configuration.profiles), configuration.engine);
  return {.nodes = cell.nodes,
          .crowd = cell.kind,
          .figures = run_crowd(engine, cell.kind, cell.nodes, options.crowd, options.pods)};
}

PreemptingRun measure_preempting(const Options& options, const Cell& cell,
                                 sched::config::Configuration configuration) {
  return {.nodes = cell.nodes,
          .preemptor = cell.kind,
          .pods = options.preempting,
          .figures = run_preempting(std::move(configuration.profiles), configuration.engine,
                                    cell.kind, cell.nodes, options.preempting)};
}

GroupedRun measure_grouped(const Options& options, const Cell& cell,
                           sched::config::Configuration configuration) {
  return {.nodes = cell.nodes,
          .kind = cell.kind,
          .groups = options.groups,
          .figures = run_grouped(std::move(configuration.profiles), configuration.engine, cell.kind,
                                 cell.nodes, options.groups)};
}

// The indexes of a list.
template <typename List>
std::vector<std::size_t> all_of(const List& list) {
  std::vector<std::size_t> all(list.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Nobody, to compare with, and the crowds that were asked for.
std::vector<std::size_t> crowds_of(const Options& options) {
  const std::vector<std::string>& some = options.crowds;
  std::vector<std::size_t> crowds;
  for (std::size_t i = 0; i < kCrowds.size(); ++i) {
    const bool is_asked_for =
        some.empty() || std::find(some.begin(), some.end(), kCrowds[i].name) != some.end();
    if (i == 0 || is_asked_for) crowds.push_back(i);
  }
  return crowds;
}

struct Streams {
  std::ostream& out;
  std::ostream& err;
};

int complain(std::ostream& err, const std::string& what) {
  err << "decide: " << what << '\n';
  return 2;
}

std::string unwritable(const Options& options) { return "--json: cannot write " + options.json; }

// Does not change an existing file: a run that fails leaves the figures of an earlier one.
bool can_write(const std::string& file) { return std::ofstream(file, std::ios::app).is_open(); }

// Measures each cell with a configuration of its own, so that each has its own plugins, and prints
// the figures.
template <typename Measure>
int measure_all(const std::vector<std::size_t>& kinds, const Options& options,
                const sched::Registry& registry, const Streams& streams, Measure measure) {
  using Run =
      std::invoke_result_t<Measure, const Options&, const Cell&, sched::config::Configuration>;
  const std::vector<Cell> cells = cells_of(kinds, options);
  std::vector<Run> runs;
  for (const Cell& cell : cells) {
    auto configuration = configuration_of(options, registry);
    if (!configuration) return complain(streams.err, configuration.error().message);
    runs.push_back(measure(options, cell, std::move(*configuration)));
    if (options.output == Output::kJson) continue;
    streams.err << fmt::format("{} of {}: {}\n", runs.size(), cells.size(), to_line(runs.back()));
  }
  streams.out << (options.output == Output::kTable ? to_table(runs) : to_json(runs)) << std::flush;
  if (!options.json.empty()) {
    std::ofstream json(options.json);
    json << to_json(runs);
    json.close();
    if (!json) return complain(streams.err, unwritable(options));
  }
  return streams.out ? 0 : complain(streams.err, "the figures could not be written");
}

}  // namespace

int run(const Options& options, const sched::Registry& registry, std::ostream& out,
        std::ostream& err) {
  if (const auto usable = configuration_of(options, registry); !usable) {
    return complain(err, usable.error().message);
  }
  if (!options.json.empty() && !can_write(options.json)) return complain(err, unwritable(options));
  const Streams streams{out, err};
  if (options.trials > 0) {
    return measure_all(options.shapes, options, registry, streams, measure_trials);
  }
  if (options.rules) return measure_all(all_of(kRules), options, registry, streams, measure_rule);
  if (options.preempting > 0) {
    return measure_all(all_of(kPreemptors), options, registry, streams, measure_preempting);
  }
  if (options.groups > 0) {
    return measure_all(all_of(kGroupKinds), options, registry, streams, measure_grouped);
  }
  if (options.crowd > 0) {
    return measure_all(crowds_of(options), options, registry, streams, measure_crowd);
  }
  return measure_all(options.shapes, options, registry, streams, measure_churn);
}

}  // namespace bench::decide
