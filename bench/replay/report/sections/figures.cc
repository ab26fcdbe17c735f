#include "bench/replay/account/figures.h"

#include "bench/replay/report/counted_figure.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace bench::replay {
namespace {

enum class Better { kLess, kMore, kNeither };

constexpr int kDuration = -1;  // instead of decimals: seconds

struct FigureColumn {
  std::string_view figure;
  std::string_view title;
  int decimals;
  Better better;
};

// Columns that are 0 for all policies are left out. Where pods wait, allocation depends on when the
// last one leaves, so no policy is better by it.
std::vector<FigureColumn> columns_of(const CountedFigure& counted) {
  const Better allocation = counted == kUnallocated ? Better::kLess : Better::kNeither;
  return {{kGpuHoursWaited.name, kGpuHoursWaited.title, kGpuHoursWaited.decimals, Better::kLess},
          {"gpu_waiting", "waited for on average, % of GPUs", 2, Better::kLess},
          {"wait_p50", "half of the pods waited at most", kDuration, Better::kLess},
          {"wait_p99", "99 of 100 pods waited at most", kDuration, Better::kLess},
          {"waiting", "waiting at the end, % of GPU asked for", 2, Better::kLess},
          {"waiting_pods", "pods waiting at the end", 0, Better::kLess},
          {kUnallocated.name, kUnallocated.title, kUnallocated.decimals, allocation},
          {"fragmented", "free but of no use, % of GPUs", 2, allocation},
          {"refused", "refused, % of GPU asked for", 2, Better::kLess},
          {"refused_pods", "pods refused", 0, Better::kLess},
          {"placed_pods", "pods placed", 0, Better::kMore}};
}

bool all_zero(const Comparison& comparison, std::string_view figure) {
  const std::string name(figure);
  return std::all_of(comparison.policies.begin(), comparison.policies.end(),
                     [&](const PolicyRuns& p) { return p.figure(name).mean == 0; });
}

FigureColumn counted_column(const Comparison& comparison) {
  const CountedFigure counted = counted_figure(comparison);
  return {counted.name, counted.title, counted.decimals, Better::kLess};
}

// Pods placed, where every pod is.
bool tells_nothing(const Comparison& comparison, const FigureColumn& column) {
  return column.figure == "placed_pods" && all_zero(comparison, "refused_pods") &&
         all_zero(comparison, "waiting_pods");
}

// The best mean as printed, so that equal texts are marked alike; infinitely good if all are equal,
// so that none is marked.
double best_of(const Comparison& comparison, const FigureColumn& column) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double best = kInfinity;
  double worst = -kInfinity;
  if (column.better == Better::kNeither) return -kInfinity;
  const double sign = column.better == Better::kMore ? -1 : 1;
  const double scale = std::pow(10, std::max(0, column.decimals));
  for (const PolicyRuns& policy : comparison.policies) {
    const Spread value = policy.figure(std::string(column.figure));
    if (value.runs == 0) continue;
    best = std::min(best, sign * std::round(value.mean * scale));
    worst = std::max(worst, sign * std::round(value.mean * scale));
  }
  return best < worst ? best : -kInfinity;
}

page::Cell figure_cell(const PolicyRuns& policy, const FigureColumn& column, double best) {
  const Spread value = policy.figure(std::string(column.figure));
  if (value.runs == 0) return {"–"};
  const double sign = column.better == Better::kMore ? -1 : 1;
  const double shown = sign * std::round(value.mean * std::pow(10, std::max(0, column.decimals)));
  const bool is_best = shown <= best;
  const std::string text = column.decimals == kDuration ? page::duration(value.mean)
                                                        : page::spread(value, column.decimals);
  return {text, is_best ? "best" : ""};
}

page::Cell published_cell(const Comparison& comparison, const PolicyRuns& policy) {
  const Spread value = published_unallocated(comparison, policy);
  return {value.runs > 0 ? page::spread(value, 2) : "–"};
}

std::string tie_break_words(const std::string& tie_break) {
  if (tie_break == "first-node") return "the first by name";
  if (tie_break == "shuffled-nodes") return "the first in a drawn order";
  if (tie_break == "fewest-gpus-first") return "one with the fewest GPUs";
  if (tie_break == "random") return "drawn each time";
  return tie_break;
}

page::Cell name_cell(const PolicyRuns& policy) { return {policy_name_html(policy)}; }

double mean_seconds(const PolicyRuns& policy) {
  std::vector<double> seconds;
  for (const Result* run : policy.runs) seconds.push_back(run->seconds);
  return spread_of(seconds).mean;
}

page::Table main_table(const Comparison& comparison) {
  page::Table table;
  table.columns = {"policy"};
  std::vector<std::pair<FigureColumn, double>> columns;
  for (const FigureColumn& column : columns_of(counted_figure(comparison))) {
    if (all_zero(comparison, column.figure) || tells_nothing(comparison, column)) continue;
    columns.emplace_back(column, best_of(comparison, column));
    table.columns.push_back(page::escape(column.title));
  }
  const bool published = comparison.has_published_curves();
  if (published) table.columns.insert(table.columns.begin() + 1, "published unallocated, %");
  for (const PolicyRuns& policy : comparison.policies) {
    std::vector<page::Cell> row{name_cell(policy)};
    if (published) row.push_back(published_cell(comparison, policy));
    for (const auto& [column, best] : columns) {
      row.push_back(figure_cell(policy, column, best));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string meaning_of(const Figure& figure) {
  const std::string meaning(figure.meaning);
  return figure.unit.empty() ? meaning : meaning + ", " + std::string(figure.unit);
}

// What is not a figure: without a name.
void add_row(page::Table& table, const Comparison& comparison, const char* meaning,
             const std::function<std::string(const PolicyRuns&)>& text) {
  std::vector<page::Cell> row{{""}, {meaning}};
  for (const PolicyRuns& policy : comparison.policies) row.push_back({text(policy)});
  table.rows.push_back(std::move(row));
}

// Every figure, by its name for --fail-if; and how the runs were made.
page::Table named_figures(const Comparison& comparison) {
  page::Table table;
  table.columns = policy_columns("figure", comparison);
  table.columns.insert(table.columns.begin() + 1, "meaning");
  for (const Figure& figure : all_figures()) {
    const std::string name(figure.name);
    std::vector<page::Cell> row{{page::escape(name)}, {page::escape(meaning_of(figure))}};
    for (const PolicyRuns& policy : comparison.policies) {
      const Spread value = policy.figure(name);
      row.push_back({value.runs > 0 ? page::spread(value, 3) : "–"});
    }
    table.rows.push_back(std::move(row));
  }
  add_row(table, comparison, "node chosen of equal ones", [](const PolicyRuns& policy) {
    return page::escape(tie_break_words(policy.runs.front()->tie_break));
  });
  add_row(table, comparison, "computing a run",
          [](const PolicyRuns& policy) { return page::took(mean_seconds(policy), 2); });
  return table;
}

const PolicyRuns* policy_at(const Comparison& comparison, std::size_t index) {
  for (const PolicyRuns& policy : comparison.policies) {
    if (policy.index == index) return &policy;
  }
  return nullptr;
}

// One row of the overview; policies that are not in the comparison stay empty.
std::vector<page::Cell> overview_row(const Comparison& comparison, std::size_t id,
                                     std::size_t policies) {
  const FigureColumn counted = counted_column(comparison);
  const double best = best_of(comparison, counted);
  std::vector<page::Cell> row{
      {fmt::format("<a href=\"#c{}\">{}</a> <small>{}</small>", id, page::escape(comparison.trace),
                   page::escape(comparison.arrival))}};
  for (std::size_t index = 0; index < policies; ++index) {
    const PolicyRuns* policy = policy_at(comparison, index);
    if (policy == nullptr) {
      row.push_back({"–"});
      continue;
    }
    page::Cell cell = figure_cell(*policy, counted, best);
    const Spread published = published_unallocated(comparison, *policy);
    if (published.runs > 0) {
      cell.html += fmt::format(" <small>({})</small>", page::number(published.mean, 2));
    }
    row.push_back(std::move(cell));
  }
  return row;
}

void write_overview_by(std::ostream& out, const std::vector<Comparison>& comparisons,
                       const CountedFigure& figure,
                       const std::map<std::size_t, const PolicyRuns*>& policies) {
  page::Table table;
  table.caption =
      "Mean over seeds ± standard deviation; the best of a row is marked. In "
      "parentheses: the published mean of the same policy.";
  table.columns = {"trace and arrival"};
  for (const auto& [index, policy] : policies) table.columns.push_back(policy_name_html(*policy));
  for (std::size_t id = 0; id < comparisons.size(); ++id) {
    if (!(counted_figure(comparisons[id]) == figure)) continue;
    table.rows.push_back(overview_row(comparisons[id], id, policies.size()));
  }
  if (table.rows.empty()) return;
  fmt::print(out, "<h2>All traces: {}</h2>\n", page::escape(figure.title));
  page::write_table(out, table);
}

}  // namespace

void write_overview(std::ostream& out, const std::vector<Comparison>& comparisons) {
  if (comparisons.size() < 2) return;
  std::map<std::size_t, const PolicyRuns*> policies;
  for (const Comparison& comparison : comparisons) {
    for (const PolicyRuns& policy : comparison.policies) policies[policy.index] = &policy;
  }
  for (const CountedFigure& figure : {kGpuHoursWaited, kUnallocated}) {
    write_overview_by(out, comparisons, figure, policies);
  }
}

void write_figures(std::ostream& out, const Comparison& comparison) {
  page::write_table(out, main_table(comparison));
  out << "<p class=\"note\">";
  if (counted_figure(comparison) == kGpuHoursWaited) {
    out << "Where pods wait, what counts is how long how many GPUs were waited for. Unallocated "
           "GPU "
           "is an average over the run, which is longer where the last pod leaves later: no best "
           "one is marked. ";
  }
  out << "Mean ± standard deviation over seeds; ★ is the best.</p>\n";
  page::write_folded_table(out, "All figures, by their names for --fail-if",
                           named_figures(comparison));
}

}  // namespace bench::replay
