#include "scheduler/base/resources.h"

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

TEST_CASE("names that are not in use any more are forgotten, and their ids given to others") {
  ResourceNames names;
  const std::size_t always_there = names.size();
  const ResourceId a = names.intern("example.com/a");
  const ResourceId b = names.intern("example.com/b");
  const ResourceId c = names.intern("example.com/c");
  CHECK(names.news() == 3);
  std::vector<bool> in_use(names.end_of_ids());
  in_use[static_cast<std::size_t>(b)] = true;
  names.keep_only(in_use);
  CHECK(names.size() == always_there + 1);
  CHECK(names.news() == 0);
  CHECK(names.find("nvidia.com/gpu") == kNvidiaGpu);
  CHECK(names.find("example.com/b") == b);
  CHECK(names.find("example.com/a") == std::nullopt);
  const ResourceNames copy = names;
  names.intern("example.com/d");
  CHECK(copy.name(b) == "example.com/b");
  CHECK(copy.find("example.com/d") == std::nullopt);
  CHECK(names.find("example.com/d") == a);
  CHECK(names.intern("example.com/e") == c);
  CHECK(names.name(a) == "example.com/d");
  CHECK(names.intern("example.com/a") > c);
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

TEST_CASE("amounts of whatever id add up, and zero is the same as absent") {
  const auto id = [](std::uint32_t number) { return static_cast<ResourceId>(number); };
  Resources taken;
  taken.set(kCpu, 100);
  taken.set(id(1'000'000), 7);
  const Resources before = taken;
  const std::vector<ResourceAmount> pod = {
      {kMemory, 5}, {id(9), 1}, {id(70), 2}, {id(1'000'000), 3}, {id(2'000'000), 4}};
  taken.add(pod);
  taken.add(id(8), 6);
  std::vector<ResourceAmount> all;
  taken.for_each([&](ResourceId each, std::int64_t amount) { all.push_back({each, amount}); });
  CHECK(all == std::vector<ResourceAmount>{{kCpu, 100},
                                           {kMemory, 5},
                                           {id(8), 6},
                                           {id(9), 1},
                                           {id(70), 2},
                                           {id(1'000'000), 10},
                                           {id(2'000'000), 4}});
  for (const ResourceAmount& each : all) CHECK(taken.get(each.resource) == each.amount);
  CHECK(taken.get(id(71)) == 0);
  CHECK_FALSE(taken == before);
  taken.subtract(pod);
  taken.set(id(8), 0);
  CHECK(taken == before);
  Resources twice = before;
  twice.add(before);
  CHECK(twice.get(id(1'000'000)) == 14);
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

}  // namespace sched
