#include "bench/replay/report/page/path.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace bench::replay::page {
namespace {

// The vertical distance of `dot` from the line from `from` to `to`.
double distance(const Dot& dot, const Dot& from, const Dot& to) {
  if (to.x == from.x) return std::abs(static_cast<double>(dot.y - from.y));
  const double share = static_cast<double>(dot.x - from.x) / static_cast<double>(to.x - from.x);
  const double line = static_cast<double>(from.y) + share * static_cast<double>(to.y - from.y);
  return std::abs(static_cast<double>(dot.y) - line);
}

}  // namespace

std::vector<Dot> simplified(const std::vector<Dot>& dots, double tolerance) {
  if (dots.size() < 3) return dots;
  std::vector<bool> kept(dots.size(), false);
  kept.front() = kept.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> spans{{0, dots.size() - 1}};
  while (!spans.empty()) {
    const auto [from, to] = spans.back();
    spans.pop_back();
    double most = tolerance;
    std::size_t farthest = 0;
    for (std::size_t i = from + 1; i < to; ++i) {
      const double off = distance(dots[i], dots[from], dots[to]);
      if (off > most) {
        most = off;
        farthest = i;
      }
    }
    if (farthest == 0) continue;
    kept[farthest] = true;
    spans.emplace_back(from, farthest);
    spans.emplace_back(farthest, to);
  }
  std::vector<Dot> rest;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (kept[i]) rest.push_back(dots[i]);
  }
  return rest;
}

std::string path_through(const std::vector<Dot>& dots) {
  if (dots.empty()) return {};
  std::string path = fmt::format("M{} {}", dots.front().x, dots.front().y);
  for (std::size_t i = 1; i < dots.size(); ++i) {
    const long dx = dots[i].x - dots[i - 1].x;
    const long dy = dots[i].y - dots[i - 1].y;
    if (i == 1) {
      path += 'l';
    } else if (dx >= 0) {
      path += ' ';
    }
    path += fmt::format("{}{}{}", dx, dy < 0 ? "" : " ", dy);
  }
  return path;
}

}  // namespace bench::replay::page
