// The geometry of a GPU model that is known, for tests of scheduler/gpu/mig.
#pragma once

#include "scheduler/gpu/mig/geometry.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <string_view>

namespace tests {

// `name`: as Geometry::model has it, "A100-80GB".
inline const sched::gpu::mig::Geometry& model(std::string_view name) {
  const auto& all = sched::gpu::mig::geometries();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.model == name; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace tests
