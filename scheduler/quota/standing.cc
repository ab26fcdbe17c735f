#include "scheduler/quota/standing.h"

#include <cstddef>

namespace sched::quota {
namespace {

int compare(const Standing::Share& a, const Standing::Share& b) {
  if (a.tier != b.tier) return a.tier < b.tier ? -1 : 1;
  if (a.tier == Standing::Tier::kGuaranteed) return 0;
  // a.beyond / a.weight against b.beyond / b.weight, without rounding.
  __extension__ using Wide = __int128;
  const Wide left = Wide{a.beyond.units()} * b.weight.units();
  const Wide right = Wide{b.beyond.units()} * a.weight.units();
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

}  // namespace

int compare(const Standing& a, const Standing& b) {
  for (std::size_t level = 0; level < kMostLevels; ++level) {
    const int order = compare(a.levels[level], b.levels[level]);
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace sched::quota
