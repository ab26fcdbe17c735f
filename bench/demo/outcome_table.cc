#include "bench/demo/outcome_table.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

namespace bench {
namespace {

// Breaks `text` at blanks into lines of at most `width` bytes; a longer word has a line of its own.
std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

struct Widths {
  std::size_t pod = 3;
  std::size_t node = 4;
};

Widths widths_of(const std::vector<Outcome>& outcomes) {
  Widths widths;
  for (const Outcome& outcome : outcomes) {
    widths.pod = std::max(widths.pod, outcome.pod.size());
    widths.node = std::max(widths.node, outcome.node.size());
  }
  return widths;
}

// One row, with its last column wrapped below itself.
void print_row(std::ostream& out, const std::string& lead, const std::string& text,
               std::size_t width) {
  const std::size_t room = width > lead.size() + 20 ? width - lead.size() : 20;
  std::string margin = lead;
  for (const std::string& line : wrap(text, room)) {
    fmt::print(out, "{}{}\n", margin, line);
    margin.assign(lead.size(), ' ');
  }
}

}  // namespace

void print_outcome(std::ostream& out, const Outcome& outcome) {
  if (outcome.waits()) {
    fmt::print(out, "  {:<16} waits   {}\n", outcome.pod, outcome.message);
  } else {
    fmt::print(out, "  {:<16} → {}   score {}\n", outcome.pod, outcome.node, outcome.scores);
  }
}

void print_table(std::ostream& out, const std::vector<Outcome>& outcomes, std::size_t width) {
  const Widths widths = widths_of(outcomes);
  fmt::print(out, "\n{:<{}}  {:<{}}  {}\n", "POD", widths.pod, "NODE", widths.node, "SCORE");
  for (const Outcome& outcome : outcomes) {
    if (outcome.waits()) continue;
    print_row(out,
              fmt::format("{:<{}}  {:<{}}  ", outcome.pod, widths.pod, outcome.node, widths.node),
              outcome.scores, width);
  }
  fmt::print(out, "\n{:<{}}  {}\n", "POD", widths.pod, "WAITS BECAUSE");
  for (const Outcome& outcome : outcomes) {
    if (!outcome.waits()) continue;
    print_row(out, fmt::format("{:<{}}  ", outcome.pod, widths.pod), outcome.message, width);
  }
}

}  // namespace bench
