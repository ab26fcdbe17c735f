#include "scheduler/quota/standing.h"

namespace sched::quota {

int compare(const Standing& a, const Standing& b) {
  if (a.tier != b.tier) return a.tier < b.tier ? -1 : 1;
  if (a.tier == Standing::Tier::kGuaranteed) return 0;
  // a.used / a.guaranteed against b.used / b.guaranteed, without rounding.
  __extension__ using Wide = __int128;
  const Wide left = Wide{a.used.units()} * b.guaranteed.units();
  const Wide right = Wide{b.used.units()} * a.guaranteed.units();
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

}  // namespace sched::quota
