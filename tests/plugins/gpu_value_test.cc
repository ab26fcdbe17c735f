// Where GPUs are only counted, the value of a node needs no list of them.
#include "plugins/support/gpu_value.h"

#include "tests/support/catch.h"

#include <random>
#include <vector>

using namespace plugins;

TEST_CASE("so many whole devices are worth what they are worth one by one") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<WeightedKind> kinds;
    for (unsigned i = 0; i < 1 + random() % 12; ++i) {
      kinds.push_back({.cpu = static_cast<std::int64_t>(random() % 40) * 500,
                       .memory = static_cast<std::int64_t>(random() % 20) * 4'096,
                       .gpus = 1 + static_cast<std::int64_t>(random() % 8),
                       .milli = 100 * (1 + static_cast<std::int64_t>(random() % 10)),
                       .weight = static_cast<std::int64_t>(random() % 100'000)});
    }
    for (const HostLimit limit : {HostLimit::kOnce, HostLimit::kShare}) {
      const ProductValue value(kinds, limit);
      const auto whole = static_cast<std::int64_t>(random() % 17);
      sched::FreeDevices devices;
      for (int taken = 0; taken < 3; ++taken) devices.push_back(0);
      for (std::int64_t i = 0; i < whole; ++i) devices.push_back(1'000);
      for (int i = 0; i < 10; ++i) {
        const FreeHost host{.cpu = static_cast<std::int64_t>(random() % 200'000) - 2'000,
                            .memory = static_cast<std::int64_t>(random() % 800'000) - 8'000};
        CHECK(value.of_whole(host, whole) == value.of(host, devices));
      }
    }
  }
}

TEST_CASE("each kind of pods counts where its own GPUs and its own CPU are") {
  const auto kind = [](std::int64_t cpu, std::int64_t gpus, std::int64_t weight) {
    return WeightedKind{.cpu = cpu, .memory = 0, .gpus = gpus, .milli = 1'000, .weight = weight};
  };
  // By weight × thousandths of GPUs.
  const ProductValue value({kind(500, 1, 3), kind(500, 8, 5), kind(9'000, 1, 7)}, HostLimit::kOnce);
  CHECK(value.of_whole({.cpu = 500}, 1) == 3 * 1'000);
  CHECK(value.of_whole({.cpu = 500}, 8) == (3 + 5) * 8'000);
  CHECK(value.of_whole({.cpu = 9'000}, 1) == (3 + 7) * 1'000);
}

TEST_CASE("what the memory of a node does not suffice for is not usable") {
  constexpr std::int64_t kGiInMi = 1'024;
  // Pods of one GPU, with 8 CPU and 100 GiB each.
  const std::vector<WeightedKind> kinds{
      {.cpu = 8'000, .memory = 100 * kGiInMi, .gpus = 1, .milli = 1'000, .weight = 1}};
  const ProductValue shared(kinds, HostLimit::kShare);
  CHECK(shared.of_whole({.cpu = 64'000, .memory = 800 * kGiInMi}, 8) == 8'000);
  CHECK(shared.of_whole({.cpu = 64'000, .memory = 400 * kGiInMi}, 8) == 4'000);
  // The scarcer of the two counts.
  CHECK(shared.of_whole({.cpu = 16'000, .memory = 400 * kGiInMi}, 8) == 2'000);
  CHECK(shared.of_whole({.cpu = 64'000, .memory = 100 * kGiInMi - 1}, 8) == 0);
  CHECK(shared.of_whole({.cpu = 64'000, .memory = -1}, 8) == 0);
  const ProductValue once(kinds, HostLimit::kOnce);
  CHECK(once.of_whole({.cpu = 8'000, .memory = 100 * kGiInMi}, 8) == 8'000);
  CHECK(once.of_whole({.cpu = 8'000, .memory = 100 * kGiInMi - 1}, 8) == 0);
}
