#include "tests/bench/replay/report/html_outline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace bench::replay {
namespace {

constexpr std::array<std::string_view, 5> kVoid{"meta", "link", "input", "br", "hr"};

// The end of the tag that begins at `start`: its ">" outside of quotes.
std::size_t tag_end(std::string_view page, std::size_t start) {
  bool quoted = false;
  for (std::size_t i = start; i < page.size(); ++i) {
    if (page[i] == '"') quoted = !quoted;
    if (page[i] == '>' && !quoted) return i;
  }
  return std::string_view::npos;
}

std::string_view name_of(std::string_view tag) { return tag.substr(0, tag.find_first_of(" \n/>")); }

}  // namespace

std::string tag_fault(std::string_view page) {
  std::vector<std::string_view> open;
  std::size_t at = 0;
  while ((at = page.find('<', at)) != std::string_view::npos) {
    const std::size_t end = tag_end(page, at);
    if (end == std::string_view::npos) return "a tag without its end";
    const std::string_view tag = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) {
        return "</" + std::string(tag.substr(1)) + "> closes " +
               (open.empty() ? "nothing" : "<" + std::string(open.back()) + ">");
      }
      open.pop_back();
      continue;
    }
    const std::string_view name = name_of(tag);
    if (std::find(kVoid.begin(), kVoid.end(), name) != kVoid.end()) continue;
    open.push_back(name);
    if (name == "script" || name == "style") at = page.find("</" + std::string(name), at);
  }
  return open.empty() ? "" : "<" + std::string(open.back()) + "> is not closed";
}

}  // namespace bench::replay
