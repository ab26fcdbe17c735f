#include "scheduler/quota/standing.h"

#include "tests/support/catch.h"

#include <vector>

using namespace sched::quota;
using Tier = Standing::Tier;

TEST_CASE("guarantees before loans, small shares before great ones, no guarantee last") {
  const auto standing = [](Tier tier, int used = 0, int guaranteed = 1) {
    const GpuShare weight = GpuShare::gpus(guaranteed);
    const GpuShare beyond =
        GpuShare::gpus(used) - (tier == Tier::kNoGuarantee ? GpuShare() : weight);
    return Standing{.levels = {Standing::Share{.tier = tier, .beyond = beyond, .weight = weight}}};
  };
  const std::vector<Standing> in_order = {
      standing(Tier::kGuaranteed),     standing(Tier::kBorrower, 9, 8),
      standing(Tier::kBorrower, 5, 4), standing(Tier::kBorrower, 40, 8),
      standing(Tier::kNoGuarantee, 3), standing(Tier::kNoGuarantee, 4)};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j) {
      INFO(i << " " << j);
      const int order = compare(in_order[i], in_order[j]);
      CHECK((order < 0) == (i < j));
      CHECK((order == 0) == (i == j));
    }
  }
  CHECK(compare(standing(Tier::kBorrower, 3, 2), standing(Tier::kBorrower, 6, 4)) == 0);
  // Where two are equal, the next level decides, up to the last.
  for (std::size_t level = 1; level < kMostLevels; ++level) {
    Standing first = standing(Tier::kBorrower, 3, 2);
    Standing second = first;
    first.levels[level] = standing(Tier::kGuaranteed).levels[0];
    second.levels[level] = standing(Tier::kBorrower, 3, 2).levels[0];
    CHECK(compare(first, second) < 0);
    CHECK(compare(second, first) > 0);
  }
  const auto most = standing(Tier::kBorrower, 1'000'000, 1'000'000);
  CHECK(compare(most, standing(Tier::kBorrower, 999'999, 1'000'000)) > 0);
}
