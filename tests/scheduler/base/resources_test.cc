#include "scheduler/base/resources.h"

#include "scheduler/framework/node_view.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <limits>

namespace sched {

TEST_CASE("names of resources are told apart as upstream does") {
  struct Case {
    const char* name;
    bool extended;
    bool scalar;
  };
  const std::vector<Case> cases = {
      {"cpu", false, false},
      {"memory", false, false},
      {"pods", false, false},
      {"made-up", false, false},
      {"nvidia.com/gpu", true, true},
      {"nvidia.com/mig-3g.40gb", true, true},
      {"example.com/a/b", false, false},
      {"EXAMPLE.com/device", false, false},
      {"-example.com/device", false, false},
      {"example..com/device", false, false},
      {"example.com/", false, false},
      {"example.com/-device", false, false},
      {"requests.nvidia.com/gpu", false, false},
      {"hugepages-2Mi", false, true},
      {"attachable-volumes-csi-x", false, true},
      {"kubernetes.io/batch-cpu", false, true},
      {"deviceclass.resource.kubernetes.io/gpu", false, true},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(is_extended_resource(each.name) == each.extended);
    CHECK(is_scalar_resource(each.name) == each.scalar);
  }
}

TEST_CASE("there is an end to the names that are counted, and what is beyond is nowhere") {
  ResourceNames names;
  const ResourceId early = names.intern("example.com/early");
  for (int i = 0; i < 10'000; ++i) names.intern("example.com/made-up-" + std::to_string(i));
  CHECK(names.size() == ResourceNames::kMostNames);
  CHECK(names.intern("example.com/early") == early);
  CHECK(names.intern("example.com/late") == kUncounted);
  CHECK(names.find("example.com/late") == std::nullopt);

  const auto asked = to_resources(
      tests::resources({{"example.com/late", "1"}, {"example.com/later", "2"}}), names);
  CHECK(asked.get(kUncounted) == 3);
  const NodeFacts facts = facts_of(tests::node("n").offers("example.com/late", "8"), names);
  CHECK(facts.allocatable.get(kUncounted) == 0);
}

TEST_CASE("names longer than Kubernetes allows are not extended resources") {
  CHECK(is_extended_resource("example.com/" + std::string(63, 'a')));
  CHECK_FALSE(is_extended_resource("example.com/" + std::string(64, 'a')));
  // The domain is measured with "requests." in front.
  const std::string long_domain = std::string(243, 'a') + "b/gpu";
  CHECK(is_extended_resource(long_domain));
  CHECK_FALSE(is_extended_resource("a" + long_domain));
}

TEST_CASE("amounts have the unit of their resource and are rounded up") {
  ResourceNames names;
  const Resources read = to_resources(tests::resources({{"cpu", "1500m"},
                                                        {"memory", "1.5Ki"},
                                                        {"ephemeral-storage", "4e9"},
                                                        {"pods", "110"},
                                                        {"nvidia.com/gpu", "8"},
                                                        {"hugepages-2Mi", "2Mi"},
                                                        {"made-up", "3"}}),
                                      names);
  CHECK(read.get(kCpu) == 1500);
  CHECK(read.get(kMemory) == 1536);
  CHECK(read.get(kEphemeralStorage) == 4'000'000'000);
  CHECK(read.get(kPods) == 110);
  CHECK(read.get(kNvidiaGpu) == 8);
  CHECK(read.get(names.intern("hugepages-2Mi")) == 2 * 1024 * 1024);
  CHECK(read.get(names.intern("made-up")) == 0);
  CHECK(to_resources(tests::resources({{"memory", "1500m"}}), names).get(kMemory) == 2);
}

TEST_CASE("amounts hold at the limits of 64 bits") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(saturating_add(kMax, 1) == kMax);
  CHECK(saturating_add(kMin, -1) == kMin);
  CHECK(saturating_subtract(kMin, 1) == kMin);
  CHECK(saturating_subtract(kMax, -1) == kMax);
  Resources sum;
  sum.set(kCpu, kMax);
  sum.add(sum);
  CHECK(sum.get(kCpu) == kMax);
}

TEST_CASE("resources add, subtract and compare without regard to trailing zeroes") {
  Resources a;
  a.set(kCpu, 100);
  Resources b;
  b.set(kMemory, 5);
  Resources sum = a;
  sum.add(b);
  CHECK(sum.get(kCpu) == 100);
  CHECK(sum.get(kMemory) == 5);
  sum.subtract(b);
  CHECK(sum == a);
  b.raise_to(a);
  CHECK(b.get(kCpu) == 100);
  CHECK(b.get(kMemory) == 5);
  CHECK_FALSE(b == a);
}

TEST_CASE("resource names keep their ids") {
  ResourceNames names;
  CHECK(names.intern("nvidia.com/gpu") == kNvidiaGpu);
  CHECK_FALSE(names.find("example.com/a").has_value());
  const ResourceId id = names.intern("example.com/a");
  CHECK(names.intern("example.com/b") != id);
  CHECK(names.find("example.com/a") == id);
  CHECK(names.name(id) == "example.com/a");
}

TEST_CASE("however many names there are, none is taken for another") {
  constexpr std::size_t kMany = ResourceNames::kMostNames - 1;
  ResourceNames names;
  while (names.size() < kMany) names.intern("example.com/r" + std::to_string(names.size()));
  const ResourceId last = names.intern("example.com/last");
  CHECK(static_cast<std::size_t>(last) == kMany);
  CHECK(names.name(last) == "example.com/last");
}

}  // namespace sched
