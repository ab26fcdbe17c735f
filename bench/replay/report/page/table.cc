#include "bench/replay/report/page/table.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstddef>

namespace bench::replay::page {
namespace {

void write_row(std::ostream& out, const std::vector<Cell>& row) {
  out << "<tr>";
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char* element = i == 0 ? "th scope=\"row\"" : "td";
    const std::string style =
        row[i].style.empty() ? "" : fmt::format(" class=\"{}\"", row[i].style);
    fmt::print(out, "<{}{}>{}</{}>", element, style, row[i].html, i == 0 ? "th" : "td");
  }
  out << "</tr>\n";
}

}  // namespace

void write_table(std::ostream& out, const Table& table) {
  out << "<div class=\"scroll\" tabindex=\"0\"><table>";
  if (!table.caption.empty()) fmt::print(out, "<caption>{}</caption>", table.caption);
  out << "<thead><tr>";
  for (const std::string& column : table.columns) {
    fmt::print(out, "<th scope=\"col\">{}</th>", column);
  }
  out << "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : table.rows) write_row(out, row);
  out << "</tbody></table></div>\n";
}

void write_folded_table(std::ostream& out, const std::string& summary, const Table& table) {
  fmt::print(out, "<details><summary>{}</summary>", summary);
  write_table(out, table);
  out << "</details>\n";
}

Cell bar_cell(double percent, const std::string& html) {
  return {fmt::format("<span class=\"bar\" style=\"--v:{:.1f}\">{}</span>",
                      std::clamp(percent, 0.0, 100.0), html)};
}

}  // namespace bench::replay::page
