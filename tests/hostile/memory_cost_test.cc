// What large or different pods leave in memory, and take for a while.
#include "scheduler/engine/engine.h"
#include "scheduler/framework/long_lists.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

namespace {

using tests::Cluster;
using tests::Cost;
using tests::cost_of;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;

}  // namespace

TEST_CASE("what is stored of shapes stays within the memory that it is given") {
  constexpr std::int64_t kBound = std::int64_t{1} << 20;
  const auto kept_with = [](std::int64_t bytes) {
    Cluster cluster({.shapes = static_cast<std::size_t>(bytes)});
    const Cost cost = cost_of([&] {
      for (int i = 0; i < 1'000; ++i) {
        cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(100).cpu(fmt::format("{}m", i))});
      }
    });
    cluster.turn();
    return cost.kept_bytes;
  };
  const std::int64_t pods = kept_with(0);  // and the one shape that was asked about last
  CHECK(kept_with(kBound) - pods <= kBound);
  CHECK(kept_with(100 * kBound) - pods > 3 * kBound);
}

TEST_CASE("large pods that are gone leave no more than so much, however many there were") {
  struct Large {
    std::string name;
    std::function<k8s::Pod(int)> pod;
  };
  // All have different requests, so that their templates have different digests.
  const auto made = [](int i) { return pod_of("crowd", i).gpus(1).cpu(fmt::format("{}m", i)); };
  const auto list = [](int i) {
    std::vector<std::string> values;
    for (int k = 0; k < 2'000; ++k) values.push_back(fmt::format("a-long-value-{:026}-{}", i, k));
    return values;
  };
  const std::vector<Large> crowds = {
      {"node affinity",
       [&](int i) {
         return made(i).requires_nodes({tests::term({tests::label("a").in(list(i))})});
       }},
      {"lists of products",
       [&](int i) {
         return made(i).requires_nodes(
             {tests::term({tests::label("nvidia.com/gpu.product").in(list(i))})});
       }},
      {"tolerations",
       [&](int i) {
         PodBuilder pod = made(i);
         for (const std::string& value : list(i)) pod.tolerates(value);
         return pod;
       }},
      {"containers",
       [&](int i) {
         PodBuilder pod = made(i);
         for (int k = 0; k < 300; ++k) {
           pod.first_runs(
               tests::container(fmt::format("c{}", k), {{"cpu", "1m"}, {"memory", "1"}}));
         }
         return pod;
       }},
  };
  const auto large_pods = static_cast<int>(tests::amount(150, 400));
  for (const Large& crowd : crowds) {
    Cluster cluster({.shapes = 0});
    const Cost cost = cost_of([&] {
      for (int i = 0; i < large_pods; ++i) {
        k8s::Pod pod = crowd.pod(i);
        event::PodDeleted gone{{pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid}};
        cluster.tell(event::PodUpserted{std::move(pod)});
        cluster.tell(std::move(gone));
      }
    });
    INFO(crowd.name << ": " << cost);
    // 8 MiB of templates, and the kinds of pods that were counted.
    CHECK(cost.kept_bytes <= 12 << 20);
  }
}

TEST_CASE("large pods that wait take no more than so much memory each") {
  constexpr int kLargePods = 100;
  constexpr std::int64_t kMostBytes = 600'000;  // of one that is just small enough
  constexpr std::int64_t kFewBytes = 20'000;    // of one that is larger: nearly nothing is kept
  const auto values = [](int i, std::size_t number, std::size_t length) {
    std::vector<std::string> made(number, std::string(length, 'x'));
    made.front() = fmt::format("{}", i);
    return made;
  };
  const auto near = [&](int i, std::size_t number, std::size_t length) {
    k8s::PodAffinityTerm term = near_own("a");
    term.label_selector->match_expressions.push_back(
        {.key = "app", .op = k8s::SelectorOperator::kNotIn, .values = values(i, number, length)});
    return term;
  };
  const auto on = [&](int i, std::size_t number, std::size_t length) {
    return tests::term({tests::label("a").not_in(values(i, number, length))});
  };
  const auto waits = [](int i) { return pod_of("crowd", i).gpus(100); };
  struct Crowd {
    const char* name;
    std::function<k8s::Pod(int)> pod;
    std::int64_t kept_bytes;
  };
  const std::vector<Crowd> crowds = {
      {"as many short values as are read",
       [&](int i) { return waits(i).requires_nodes({on(i, 1'990, 1)}).near(near(i, 1'990, 1)); },
       kMostBytes},
      {"as long values as are read",
       [&](int i) { return waits(i).requires_nodes({on(i, 500, 63)}).near(near(i, 500, 63)); },
       kMostBytes},
      {"longer values",
       [&](int i) { return waits(i).requires_nodes({on(i, 1'990, 63)}).near(near(i, 1'990, 63)); },
       kFewBytes},
      {"a long image",
       [&](int i) {
         k8s::Pod pod = waits(i);
         pod.spec.containers.front().image = std::string(1'000'000, 'x');
         return pod;
       },
       kFewBytes},
  };
  for (const Crowd& crowd : crowds) {
    Cluster cluster({.shapes = 0});
    const Cost cost = cost_of([&] {
      for (int i = 0; i < kLargePods; ++i) {
        k8s::Pod pod = crowd.pod(i);
        drop_long_lists(pod);
        cluster.tell(event::PodUpserted{std::move(pod)});
      }
    });
    INFO(crowd.name << ": " << cost);
    CHECK(cost.kept_bytes <= crowd.kept_bytes * kLargePods);
  }
}

TEST_CASE(
    "of a large pod that asks for many labels a few copies are made to find what would help") {
  constexpr int kLabels = 500;
  constexpr std::int64_t kBytes = 100'000;
  const Cluster cluster;
  PodBuilder built = pod_of("crowd", 1).gpus(1).annotated("note", std::string(kBytes, 'x'));
  for (int i = 0; i < kLabels; ++i) built.selects(fmt::format("example.com/label-{}", i), "x");
  const k8s::Pod pod = built;
  const Cost cost = cost_of([&] { static_cast<void>(cluster.engine().changes_for(pod)); });
  INFO(cost);
  CHECK(cost.peak_bytes < 20 * kBytes);  // a copy for each label takes 500 times as much
}

}  // namespace sched
