// A table of the page: it scrolls inside its own frame, and its first column stays visible.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::replay::page {

struct Cell {
  std::string html;
  std::string style = {};  // CSS class: "best"
};

struct Table {
  std::string caption;                  // HTML; empty: none
  std::vector<std::string> columns;     // HTML
  std::vector<std::vector<Cell>> rows;  // the first cell names the row
};

void write_table(std::ostream& out, const Table& table);

// The table behind a summary that can be opened, for data that a plot already shows.
void write_folded_table(std::ostream& out, const std::string& summary, const Table& table);

// A share of a hundred as a figure with a bar behind it.
[[nodiscard]] Cell bar_cell(double percent, const std::string& html);

}  // namespace bench::replay::page
