#include "bench/mig/table.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

namespace bench::mig {

namespace {

using Names = std::vector<std::string>;

// In the order of first occurrence.
Names names(const std::vector<Cell>& cells, std::string Cell::*name) {
  Names found;
  for (const Cell& cell : cells) {
    if (std::find(found.begin(), found.end(), cell.*name) == found.end()) {
      found.push_back(cell.*name);
    }
  }
  return found;
}

// The cells of one policy and distribution, by load.
std::vector<const Cell*> cells_of(const std::vector<Cell>& cells, const std::string& policy,
                                  const std::string& distribution) {
  std::vector<const Cell*> found;
  for (const Cell& cell : cells) {
    if (cell.policy == policy && cell.distribution == distribution) found.push_back(&cell);
  }
  std::sort(found.begin(), found.end(),
            [](const Cell* a, const Cell* b) { return a->load < b->load; });
  return found;
}

using CellText = std::function<std::string(const Summary&)>;

void write_table(std::ostream& out, const std::vector<Cell>& cells, const std::string& title,
                 const CellText& text) {
  fmt::print(out, "{}\n\n| policy |", title);
  const Names distributions = names(cells, &Cell::distribution);
  for (const std::string& distribution : distributions) fmt::print(out, " {} |", distribution);
  fmt::print(out, "\n|---|");
  for (std::size_t i = 0; i < distributions.size(); ++i) fmt::print(out, "---|");
  fmt::print(out, "\n");
  for (const std::string& policy : names(cells, &Cell::policy)) {
    fmt::print(out, "| {} |", policy);
    for (const std::string& distribution : distributions) {
      std::string row;
      for (const Cell* cell : cells_of(cells, policy, distribution)) {
        if (!row.empty()) row += " / ";
        row += text(summarise(cell->runs));
      }
      fmt::print(out, " {} |", row);
    }
    fmt::print(out, "\n");
  }
  fmt::print(out, "\n");
}

std::string loads_text(const std::vector<Cell>& cells) {
  std::vector<double> loads;
  for (const Cell& cell : cells) loads.push_back(cell.load);
  std::sort(loads.begin(), loads.end());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  std::string text;
  for (const double load : loads) text += fmt::format("{}{:.2f}", text.empty() ? "" : " / ", load);
  return text;
}

}  // namespace

Summary summarise(const std::vector<Figures>& runs) {
  const auto count = static_cast<double>(runs.size());
  Summary summary;
  for (const Figures& run : runs) {
    summary.mean.accepted += run.accepted / count;
    summary.mean.accepted_slices += run.accepted_slices / count;
    summary.mean.active_gpus += run.active_gpus / count;
    summary.mean.taken_slices += run.taken_slices / count;
  }
  if (runs.size() < 2) return summary;
  double squares = 0;
  for (const Figures& run : runs) {
    const double off = run.accepted - summary.mean.accepted;
    squares += off * off;
  }
  summary.accepted_error = std::sqrt(squares / (count - 1) / count);
  return summary;
}

void write_markdown(std::ostream& out, const std::vector<Cell>& cells) {
  if (cells.empty()) return;
  const std::string loads = loads_text(cells);
  double error = 0;
  for (const Cell& cell : cells) error = std::max(error, summarise(cell.runs).accepted_error);
  write_table(
      out, cells,
      fmt::format("Accepted requests, % at offered load {} ({} runs; standard error at most "
                  "{:.2f}, the same requests for every policy)",
                  loads, cells.front().runs.size(), error),
      [](const Summary& cell) { return fmt::format("{:.1f}", cell.mean.accepted); });
  write_table(out, cells, fmt::format("Accepted slices, % of those asked for at load {}", loads),
              [](const Summary& cell) { return fmt::format("{:.1f}", cell.mean.accepted_slices); });
  write_table(out, cells,
              fmt::format("GPUs with an instance, %; slices taken, %, at load {}", loads),
              [](const Summary& cell) {
                return fmt::format("{:.0f}; {:.1f}", cell.mean.active_gpus, cell.mean.taken_slices);
              });
}

void write_json(std::ostream& out, const std::vector<Cell>& cells) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Cell& cell : cells) {
    const Summary summary = summarise(cell.runs);
    all.push_back({{"policy", cell.policy},
                   {"distribution", cell.distribution},
                   {"load", cell.load},
                   {"runs", cell.runs.size()},
                   {"accepted", summary.mean.accepted},
                   {"rejected", 100 - summary.mean.accepted},
                   {"accepted_error", summary.accepted_error},
                   {"accepted_slices", summary.mean.accepted_slices},
                   {"active_gpus", summary.mean.active_gpus},
                   {"taken_slices", summary.mean.taken_slices}});
  }
  out << all.dump(2) << '\n';
}

}  // namespace bench::mig
