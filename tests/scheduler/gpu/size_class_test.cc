#include "scheduler/gpu/size_class.h"

#include "tests/support/catch.h"

#include <vector>

using sched::gpu::Demand;
using sched::gpu::size_class_of;
using sched::gpu::SizeClass;

TEST_CASE("pods are of a class by how much GPU they ask for") {
  struct Case {
    std::int64_t gpus;
    std::int64_t milli;
    std::optional<SizeClass> want;
  };
  const std::vector<Case> cases{
      {0, 0, std::nullopt},           {1, 1, SizeClass::kShare},     {1, 999, SizeClass::kShare},
      {1, 1'000, SizeClass::kOne},    {2, 1'000, SizeClass::kTwo},   {3, 1'000, SizeClass::kFour},
      {4, 1'000, SizeClass::kFour},   {5, 1'000, SizeClass::kEight}, {8, 1'000, SizeClass::kEight},
      {16, 1'000, SizeClass::kEight},
  };
  for (const Case& c : cases) {
    INFO(c.gpus << " of " << c.milli);
    Demand demand;
    demand.gpus = c.gpus;
    demand.milli = c.milli;
    CHECK(size_class_of(demand) == c.want);
  }
  Demand mig;
  mig.gpus = 1;
  mig.instances = {{"3g.40gb", 1}};
  CHECK(size_class_of(mig) == std::nullopt);
}
