#include "bench/replay/account/levels.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench::replay {
namespace {

using Groups = std::map<std::string, GroupUse> Result::*;

// One group over the seeds of one policy.
struct MeanUse {
  Spread allocated;  // GPUs
  Spread filled;     // allocated, % of the capacity
  Spread placed;     // % of the pods
  double pods = 0;
  double asked = 0;   // GPUs
  double waited = 0;  // seconds
};

MeanUse mean_use(const PolicyRuns& policy, Groups groups, const std::string& name) {
  std::vector<double> allocated;
  std::vector<double> filled;
  std::vector<double> placed;
  std::vector<double> pods;
  std::vector<double> asked;
  std::vector<double> waited;
  for (const Result* run : policy.runs) {
    const auto found = (run->*groups).find(name);
    if (found == (run->*groups).end()) continue;
    const GroupUse& use = found->second;
    allocated.push_back(use.allocated);
    filled.push_back(percent(use.allocated, use.capacity));
    placed.push_back(percent(static_cast<double>(use.placed), static_cast<double>(use.pods)));
    pods.push_back(static_cast<double>(use.pods));
    asked.push_back(use.asked);
    waited.push_back(use.waited);
  }
  return {spread_of(allocated), spread_of(filled),     spread_of(placed),
          spread_of(pods).mean, spread_of(asked).mean, spread_of(waited).mean};
}

// All groups by weight, the heaviest first.
std::vector<std::string> heaviest_first(const Comparison& comparison, Groups groups,
                                        double GroupUse::*weight) {
  std::map<std::string, double> weights;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const auto& [name, use] : policy.runs.front()->*groups) {
      weights[name] = std::max(weights[name], use.*weight);
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, group_weight] : weights) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return weights[a] > weights[b];
  });
  return names;
}

double capacity_of(const Comparison& comparison, const std::string& product) {
  for (const PolicyRuns& policy : comparison.policies) {
    const auto& products = policy.runs.front()->by_product;
    const auto found = products.find(product);
    if (found != products.end()) return found->second.capacity;
  }
  return 0;
}

void write_models(std::ostream& out, const Comparison& comparison) {
  page::Table table;
  table.caption = comparison.over_time ? "Allocated, % of the model's GPUs (on average)"
                                       : "Allocated, % of the model's GPUs (at the end)";
  table.columns = policy_columns("GPU model", comparison);
  table.columns.insert(table.columns.begin() + 1, "GPUs");
  for (const std::string& name :
       heaviest_first(comparison, &Result::by_product, &GroupUse::capacity)) {
    const double capacity = capacity_of(comparison, name);
    if (capacity <= 0) continue;  // nodes without GPU
    std::vector<page::Cell> row{{name.empty() ? "no model" : page::escape(page::model_words(name))},
                                {page::number(capacity, 0)}};
    for (const PolicyRuns& policy : comparison.policies) {
      const MeanUse use = mean_use(policy, &Result::by_product, name);
      row.push_back(page::bar_cell(use.filled.mean, page::spread(use.filled, 1)));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return;
  out << "<h3>By GPU model</h3>\n";
  page::write_table(out, table);
}

// Then how long they waited is all that there is to say.
bool every_pod_is_placed(const Comparison& comparison) {
  return comparison.over_time && std::all_of(comparison.policies.begin(), comparison.policies.end(),
                                             [](const PolicyRuns& policy) {
                                               return policy.figure("refused_pods").mean == 0 &&
                                                      policy.figure("waiting_pods").mean == 0;
                                             });
}

std::vector<page::Cell> namespace_row(const Comparison& comparison, const std::string& name,
                                      bool all_placed) {
  std::vector<page::Cell> row{{page::escape(name)}, {}, {}};
  for (const PolicyRuns& policy : comparison.policies) {
    const MeanUse use = mean_use(policy, &Result::by_namespace, name);
    if (row[1].html.empty()) {
      row[1].html = page::count(static_cast<std::size_t>(std::lround(use.pods)));
      row[2].html = page::number(use.asked, 1);
    }
    const std::string gpus = page::number(use.allocated.mean, 1) + " GPUs";
    const std::string waited = page::duration(use.waited);
    const std::string placed = page::number(use.placed.mean, 1);
    if (all_placed) {
      row.push_back({fmt::format("{} <small>{}</small>", waited, gpus)});
    } else {
      row.push_back(page::bar_cell(use.placed.mean,
                                   fmt::format("{} <small>{}{}</small>", placed, gpus,
                                               comparison.over_time ? ", waited " + waited : "")));
    }
  }
  return row;
}

void write_namespaces(std::ostream& out, const Comparison& comparison) {
  constexpr std::size_t kMost = 30;
  const std::vector<std::string> names =
      heaviest_first(comparison, &Result::by_namespace, &GroupUse::asked);
  if (names.empty()) return;
  page::Table table;
  const bool all_placed = every_pod_is_placed(comparison);
  if (all_placed) {
    table.caption = "How long a pod waited, on average, and the GPUs that the namespace has";
  } else {
    table.caption = "Pods placed, % of those that came, and the GPUs that the namespace has ";
    table.caption +=
        comparison.over_time
            ? "on average; how long they waited, on average (those that still wait: until the end)"
            : "at the end";
  }
  table.columns = policy_columns("namespace", comparison);
  table.columns.insert(table.columns.begin() + 1, {"pods", "GPUs asked for"});
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    table.rows.push_back(namespace_row(comparison, names[i], all_placed));
  }
  out << "<h3>By namespace</h3>\n";
  page::write_table(out, table);
  if (names.size() > kMost) {
    fmt::print(out, "<p class=\"note\">{} namespaces that asked for less are not shown.</p>\n",
               page::count(names.size() - kMost));
  }
}

}  // namespace

void write_use(std::ostream& out, const Comparison& comparison) {
  write_models(out, comparison);
  write_namespaces(out, comparison);
}

}  // namespace bench::replay
