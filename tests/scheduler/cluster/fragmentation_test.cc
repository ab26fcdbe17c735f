// Free GPU by cause, case by case.
#include "scheduler/cluster/fragmentation.h"

#include "tests/support/catch.h"

#include <cstdint>
#include <utility>
#include <vector>

using sched::covering;
using sched::Fragmentation;
using sched::FreeByCause;
using sched::TypicalPod;
using Cause = sched::FreeGpuCause;

namespace {

FreeByCause causes(std::vector<std::pair<Cause, std::int64_t>> entries) {
  FreeByCause all{};
  for (const auto& [cause, amount] : entries) all[static_cast<std::size_t>(cause)] = amount;
  return all;
}

}  // namespace

TEST_CASE("each typical pod puts the free GPU of a node down to one cause") {
  struct Case {
    const char* name;
    TypicalPod pod;
    std::int64_t free_cpu;
    std::vector<std::int32_t> free_milli;
    FreeByCause want;
  };
  const TypicalPod half{.cpu = 2'000, .gpus = 1, .milli = 500, .products = {}, .count = 1};
  const TypicalPod two{.cpu = 2'000, .gpus = 2, .milli = 1'000, .products = {}, .count = 1};
  const TypicalPod other{.cpu = 0, .gpus = 1, .milli = 1, .products = {"A10", "T4"}, .count = 1};
  const TypicalPod ours{.cpu = 0, .gpus = 1, .milli = 1, .products = {"A10", "G2"}, .count = 1};
  const TypicalPod none{.cpu = 2'000, .gpus = 0, .milli = 0, .products = {}, .count = 1};
  const std::vector<Case> cases = {
      {"large enough devices are usable, small ones not",
       half,
       2'000,
       {500, 499, 1'000},
       causes({{Cause::kSatisfied, 1'500}, {Cause::kLackGpu, 499}})},
      {"no device is large enough", half, 2'000, {499, 400}, causes({{Cause::kLackGpu, 899}})},
      {"too few devices", two, 2'000, {1'000, 999}, causes({{Cause::kLackGpu, 1'999}})},
      {"no CPU", half, 1'999, {500, 100}, causes({{Cause::kLackCpu, 600}})},
      {"neither", two, 1'999, {1'000, 999}, causes({{Cause::kLackBoth, 1'999}})},
      {"another model", other, 9, {700}, causes({{Cause::kNoAccess, 700}})},
      {"one of the models", ours, 9, {700}, causes({{Cause::kSatisfied, 700}})},
      {"no GPU asked for", none, 2'000, {700}, causes({{Cause::kNoGpuAsked, 700}})},
      {"no GPU asked for, no CPU", none, 1'999, {700}, causes({{Cause::kNoGpuAskedCpu, 700}})},
      {"nothing free", half, 2'000, {0, 0}, causes({})},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Fragmentation fragmentation(std::vector{c.pod});
    const std::size_t product = fragmentation.product_id("G2");
    CHECK(fragmentation.free_by_cause(product, c.free_cpu, c.free_milli) == c.want);
  }
}

TEST_CASE("typical pods count by how often they come") {
  Fragmentation fragmentation(std::vector<TypicalPod>{
      {.cpu = 0, .gpus = 1, .milli = 500, .products = {}, .count = 3},
      {.cpu = 0, .gpus = 1, .milli = 1'000, .products = {"T4"}, .count = 2}});
  CHECK(fragmentation.weight() == 5);
  const std::vector<std::int32_t> free{600, 100};
  CHECK(fragmentation.free_by_cause(fragmentation.product_id("T4"), 0, free) ==
        causes({{Cause::kSatisfied, 3 * 600}, {Cause::kLackGpu, 3 * 100 + 2 * 700}}));
  CHECK(
      fragmentation.free_by_cause(fragmentation.product_id("G2"), 0, free) ==
      causes(
          {{Cause::kSatisfied, 3 * 600}, {Cause::kLackGpu, 3 * 100}, {Cause::kNoAccess, 2 * 700}}));
}

TEST_CASE("pods that ask for MIG instances, and kinds of which none came, are no typical pods") {
  Fragmentation fragmentation(
      std::vector<TypicalPod>{{.cpu = 0, .gpus = 1, .milli = 0, .products = {}, .count = 7},
                              {.cpu = 0, .gpus = 1, .milli = 500, .products = {}, .count = 3},
                              {.cpu = 0, .gpus = 1, .milli = 900, .products = {}, .count = 0}});
  CHECK(fragmentation.weight() == 3);
  CHECK(fragmentation.free_by_cause(fragmentation.product_id("T4"), 0,
                                    std::vector<std::int32_t>{600}) ==
        causes({{Cause::kSatisfied, 3 * 600}}));
}

TEST_CASE("free GPUs that are all whole may be given by their number") {
  Fragmentation fragmentation(std::vector<TypicalPod>{
      {.cpu = 2'000, .gpus = 1, .milli = 500, .products = {}, .count = 4},
      {.cpu = 1'000, .gpus = 3, .milli = 1'000, .products = {}, .count = 3},
      {.cpu = 4'000, .gpus = 0, .milli = 0, .products = {}, .count = 2},
      {.cpu = 0, .gpus = 1, .milli = 1'000, .products = {"T4"}, .count = 1}});
  const std::size_t product = fragmentation.product_id("G2");
  for (std::int64_t gpus = 0; gpus <= 4; ++gpus) {
    const std::vector<std::int32_t> devices(static_cast<std::size_t>(gpus), 1'000);
    for (const std::int64_t cpu : {0, 1'000, 2'000, 4'000}) {
      CHECK(fragmentation.free_by_cause(product, cpu, gpus) ==
            fragmentation.free_by_cause(product, cpu, devices));
    }
  }
}

TEST_CASE("without typical pods what is free is usable") {
  Fragmentation fragmentation(std::vector<TypicalPod>{});
  const std::vector<std::int32_t> free{600, 100};
  CHECK(fragmentation.free_by_cause(fragmentation.product_id(""), 0, free) ==
        causes({{Cause::kSatisfied, 700}}));
  CHECK(fragmentation.weight() == 1);
}

TEST_CASE("the most frequent kinds are taken until they cover enough") {
  const auto kind = [](std::uint64_t count) {
    return TypicalPod{.cpu = 0, .gpus = 1, .milli = 1, .products = {}, .count = count};
  };
  const auto counts = [](const std::vector<TypicalPod>& kinds) {
    std::vector<std::uint64_t> all;
    for (const TypicalPod& one : covering(kinds)) all.push_back(one.count);
    return all;
  };
  using Counts = std::vector<std::uint64_t>;
  CHECK(counts({kind(50), kind(45), kind(5)}) == Counts{50, 45});
  CHECK(counts({kind(50), kind(44), kind(6)}) == Counts{50, 44, 6});
  CHECK(counts({}).empty());
}
