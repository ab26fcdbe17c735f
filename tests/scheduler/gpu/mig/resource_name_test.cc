#include "scheduler/gpu/mig/resource_name.h"

#include "tests/support/catch.h"

#include <vector>

using namespace sched::gpu::mig;

TEST_CASE("The resource of a MIG profile is taken apart") {
  struct Case {
    const char* resource;
    const char* profile;  // nullptr: not such a resource
    bool shared;
  };
  const std::vector<Case> cases = {
      {"nvidia.com/mig-1g.10gb", "1g.10gb", false},
      {"nvidia.com/mig-1g.10gb.me", "1g.10gb.me", false},
      {"nvidia.com/mig-1g.24gb-me", "1g.24gb-me", false},
      {"nvidia.com/mig-1g.24gb.gfx", "1g.24gb.gfx", false},
      {"nvidia.com/mig-2g.48gb.me.all", "2g.48gb.me.all", false},
      {"nvidia.com/mig-1g.5gb.shared", "1g.5gb", true},
      {"nvidia.com/mig-1g.5gb.me.shared", "1g.5gb.me", true},
      {"nvidia.com/mig-1g.0gb", "1g.0gb", false},
      {"nvidia.com/mig-1c.2g.10gb", nullptr, false},
      {"nvidia.com/mig-", nullptr, false},
      {"nvidia.com/mig-.shared", nullptr, false},
      {"nvidia.com/mig-1g.5gb.", nullptr, false},
      {"nvidia.com/mig-1g.5gbme", nullptr, false},
      {"nvidia.com/mig-1g.5gb.ME", nullptr, false},
      {"nvidia.com/mig-99999g.5gb", nullptr, false},
      {"nvidia.com/gpu", nullptr, false},
      {"example.com/mig-1g.5gb", nullptr, false},
  };
  for (const Case& each : cases) {
    INFO(each.resource);
    const auto parsed = parse_resource(each.resource);
    REQUIRE(parsed.has_value() == (each.profile != nullptr));
    if (!parsed) continue;
    CHECK(parsed->profile == each.profile);
    CHECK(parsed->shared == each.shared);
  }
  CHECK(profile_spelling("1g.10gb+me") == "1g.10gb.me");
  CHECK_FALSE(profile_spelling("INVALID"));
}
