#include "bench/replay/output/table.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace bench::replay {
namespace {

struct Column {
  std::string title;
  std::function<std::string(const PolicyMeans&)> text;
};
using Rows = std::vector<std::vector<std::string>>;

std::string text_of(const MeanAndSpread& value, int decimals, std::size_t runs) {
  if (runs == 1) return fmt::format("{:.{}f}", value.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", value.mean, decimals, value.deviation, decimals);
}

Column figure(std::string title, std::string name, int decimals) {
  return {std::move(title), [name = std::move(name), decimals](const PolicyMeans& means) {
            const auto found = means.figures.find(name);
            if (found == means.figures.end()) return std::string("–");
            return text_of(found->second, decimals, means.runs);
          }};
}

// Whether any run has such pods: with a queue no pod is refused for good, without one no pod waits.
bool any(const std::vector<PolicyMeans>& means, const std::string& name) {
  return std::any_of(means.begin(), means.end(), [&](const PolicyMeans& one) {
    const auto found = one.figures.find(name);
    return found != one.figures.end() && found->second.mean > 0;
  });
}

std::vector<Column> columns_for(const std::vector<PolicyMeans>& means) {
  const bool published =
      std::any_of(means.begin(), means.end(), [](const PolicyMeans& one) { return one.published; });
  std::vector<Column> columns{
      {"policy", [](const PolicyMeans& one) { return one.policy; }},
      {"tie-break", [](const PolicyMeans& one) { return one.tie_break; }},
      {"runs", [](const PolicyMeans& one) { return fmt::format("{}", one.runs); }},
      figure("unallocated %", "unallocated", 2)};
  if (published) {
    columns.push_back({"published %", [](const PolicyMeans& one) {
                         // always over ten seeds
                         return one.published ? text_of(*one.published, 2, 10) : "–";
                       }});
  }
  columns.push_back(figure("fragmented %", "fragmented", 2));
  if (any(means, "refused_pods")) {
    columns.push_back(figure("refused GPU %", "refused", 2));
    columns.push_back(figure("refused pods", "refused_pods", 0));
  }
  if (any(means, "waiting_pods")) {
    columns.push_back(figure("waiting GPU %", "waiting", 2));
    columns.push_back(figure("waiting pods", "waiting_pods", 0));
  }
  if (any(means, "wait_max")) {
    columns.push_back(figure("GPU·h waited", "gpu_hours_waited", 0));
    columns.push_back(figure("wait mean s", "wait_mean", 0));
    columns.push_back(figure("wait p99 s", "wait_p99", 0));
  }
  if (any(means, "unallocated_at_100")) {
    columns.push_back(figure("unallocated at 100 %", "unallocated_at_100", 2));
  }
  const bool recorded = std::any_of(means.begin(), means.end(), [](const PolicyMeans& one) {
    return one.figures.count("moved_pods") > 0;
  });
  if (recorded) {
    columns.push_back(figure("moved pods", "moved_pods", 0));
    columns.push_back(figure("gained pods", "gained_pods", 0));
    columns.push_back(figure("lost pods", "lost_pods", 0));
  }
  columns.push_back({"CPU s/run", [](const PolicyMeans& one) {
                       return fmt::format("{:.2f}", one.seconds / static_cast<double>(one.runs));
                     }});
  return columns;
}

Rows rows_of(const std::vector<PolicyMeans>& means) {
  const std::vector<Column> columns = columns_for(means);
  Rows rows(1);
  for (const Column& column : columns) rows.front().push_back(column.title);
  for (const PolicyMeans& policy : means) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Column& column : columns) row.push_back(column.text(policy));
  }
  return rows;
}

// Characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void write_text(std::ostream& out, const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    fmt::print(out, "  {}\n", line);
  }
}

void write_markdown(std::ostream& out, const Rows& rows) {
  const std::vector<std::string> rule(rows.front().size(), "---");
  fmt::print(out, "| {} |\n|{}|\n", fmt::join(rows.front(), " | "), fmt::join(rule, "|"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    fmt::print(out, "| {} |\n", fmt::join(rows[i], " | "));
  }
}

}  // namespace

void write_table(std::ostream& out, const std::vector<PolicyMeans>& means, TableFormat format) {
  for (auto begin = means.begin(); begin != means.end();) {
    const auto end = std::find_if(
        begin, means.end(), [&](const PolicyMeans& one) { return one.trace != begin->trace; });
    const Rows rows = rows_of({begin, end});
    if (format == TableFormat::kMarkdown) {
      fmt::print(out, "\n**{}**, arrival {}\n\n", begin->trace, begin->arrival);
      write_markdown(out, rows);
    } else {
      fmt::print(out, "\n{}, arrival {}\n", begin->trace, begin->arrival);
      write_text(out, rows);
    }
    begin = end;
  }
}

void write_counts(std::ostream& out, const std::vector<Trace>& traces) {
  for (const Trace& trace : traces) {
    std::vector<std::string> counts;
    for (const auto& [what, count] : trace.counts)
      counts.push_back(fmt::format("{} {}", count, what));
    fmt::print(out, "read {}: {}\n", trace.name, fmt::join(counts, ", "));
  }
}

}  // namespace bench::replay
