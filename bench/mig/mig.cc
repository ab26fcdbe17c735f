#include "bench/mig/mig.h"

#include "bench/mig/load.h"
#include "bench/mig/run.h"
#include "bench/mig/table.h"
#include "scheduler/base/random.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <thread>

namespace bench::mig {

namespace {

// Those of `known` with the wanted names, in the order of `known`; nullopt: one is not known.
template <class Known>
std::optional<std::vector<typename Known::value_type>> select(
    const Known& known, const std::vector<std::string>& wanted) {
  std::vector<typename Known::value_type> found;
  for (const auto& each : known) {
    const bool named = std::find(wanted.begin(), wanted.end(), each.name) != wanted.end();
    if (wanted.empty() || named) found.push_back(each);
  }
  if (!wanted.empty() && found.size() != wanted.size()) return std::nullopt;
  return found;
}

template <class Known>
std::string names_of(const Known& known) {
  std::vector<std::string_view> names;
  for (const auto& each : known) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// One run of one cell.
struct Task {
  Policy policy;
  Distribution distribution;
  double load = 0;
  std::uint64_t seed = 0;
  std::size_t cell = 0;
  std::size_t run = 0;
};

// The draws depend on the seed alone, not on what else is measured with it.
Figures run_task(const Task& task, const Protocol& protocol, const sched::Registry& registry) {
  const auto requests =
      draw_requests(task.distribution, task.load, protocol, sched::mix64(task.seed));
  return run(task.policy, requests, protocol, registry).value_or(Figures{});
}

void in_parallel(unsigned jobs, std::size_t tasks, const std::function<void(std::size_t)>& work) {
  if (jobs == 0) jobs = std::max(std::thread::hardware_concurrency(), 1U);
  std::atomic<std::size_t> next{0};
  const auto take_turns = [&] {
    for (std::size_t task = next++; task < tasks; task = next++) work(task);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(take_turns);
  take_turns();
}

std::vector<Cell> measure(const Options& options, const std::vector<Policy>& chosen,
                          const std::vector<Distribution>& distributions,
                          const sched::Registry& registry) {
  const Protocol protocol{.gpus = options.gpus, .slots = options.slots};
  std::vector<Cell> cells;
  std::vector<Task> tasks;
  for (const Policy& policy : chosen) {
    for (const Distribution& distribution : distributions) {
      for (const double load : options.loads) {
        for (std::uint64_t run = 0; run < options.runs; ++run) {
          tasks.push_back({policy, distribution, load, options.seed + run, cells.size(), run});
        }
        cells.push_back({std::string(policy.name), std::string(distribution.name), load,
                         std::vector<Figures>(options.runs)});
      }
    }
  }
  in_parallel(options.jobs, tasks.size(), [&](std::size_t i) {
    const Task& task = tasks[i];
    cells[task.cell].runs[task.run] = run_task(task, protocol, registry);
  });
  return cells;
}

int complain(std::ostream& err, const std::string& what) {
  err << "mig: " << what << '\n';
  return 2;
}

}  // namespace

int run(const Options& options, const sched::Registry& registry, std::ostream& out,
        std::ostream& err) {
  const auto chosen = select(policies(), options.policies);
  if (!chosen) return complain(err, "--policy: those there are: " + names_of(policies()));
  const auto distributions = select(kDistributions, options.distributions);
  if (!distributions) {
    return complain(err, "--distribution: those there are: " + names_of(kDistributions));
  }
  const auto positive = [](double load) { return load > 0 && load <= 100; };
  if (!std::all_of(options.loads.begin(), options.loads.end(), positive)) {
    return complain(
        err, "--load: a share of the cluster's slices, such as 0.85 or 1.2; above 0, at most 100");
  }
  // A policy with an error must not look like one that accepts nothing.
  for (const Policy& policy : *chosen) {
    if (const auto tried = run(policy, {}, {.gpus = 1, .slots = 1}, registry); !tried) {
      return complain(err, tried.error().message);
    }
  }
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) return complain(err, "--json: cannot write " + options.json);
  }
  const std::vector<Cell> cells = measure(options, *chosen, *distributions, registry);
  write_markdown(out, cells);
  if (!json.is_open()) return 0;
  write_json(json, cells);
  json.close();
  return json ? 0 : complain(err, "--json: cannot write " + options.json);
}

}  // namespace bench::mig
