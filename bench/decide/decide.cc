#include "bench/decide/decide.h"

#include "bench/decide/churn.h"
#include "bench/decide/contention.h"
#include "bench/decide/figures.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"

#include <fstream>
#include <ostream>

namespace bench::decide {

namespace {

k8s::Result<Figures> measure(const Scenario& scenario, const std::string& config,
                             const sched::Registry& registry) {
  auto configuration = config.empty()
                           ? sched::config::parse("", "the default configuration", registry)
                           : sched::config::load(config, registry);
  if (!configuration) return tl::unexpected(configuration.error());
  sched::Engine engine(std::move(configuration->profiles), configuration->engine);
  const Outcome outcome =
      scenario.quotas > 0 ? Contention(engine, scenario).run() : Churn(engine, scenario).run();
  return figures_of(scenario, outcome);
}

}  // namespace

int run(const Options& options, const sched::Registry& registry, std::ostream& out,
        std::ostream& err) {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) {
      err << "decide: --json: cannot write " << options.json << '\n';
      return 2;
    }
  }
  std::vector<Figures> runs;
  write_head(out);
  for (const std::size_t shapes : options.shapes) {
    for (const std::size_t nodes : options.nodes) {
      const auto figures = measure({.nodes = nodes,
                                    .shapes = shapes,
                                    .pods = options.pods,
                                    .waiting = options.waiting,
                                    .waiting_for = options.waiting_for,
                                    .quotas = options.quotas,
                                    .load = options.load,
                                    .seed = options.seed},
                                   options.config, registry);
      if (!figures) {
        err << "decide: " << figures.error().message << '\n';
        return 2;
      }
      write_line(out, *figures);
      runs.push_back(*figures);
    }
  }
  if (json.is_open()) write_json(json, runs);
  return 0;
}

}  // namespace bench::decide
