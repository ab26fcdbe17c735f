// What a crowd of one tenant's pods costs a neighbour: steps and bytes, for each pod of the crowd.
//
// The crowd is there; then one of the neighbour's pods ends and another comes, which is bound. A
// crowd may cost that so many steps, whether or not it grows with the crowd. Where something grew
// with its square, four times the crowd would pass the bounds. Of those that wait for others some
// are asked about in each turn, and that must not grow at all.
#include "scheduler/engine/engine.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

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
using tests::kNodes;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;

struct Load {
  const char* name;
  std::function<k8s::Pod(int)> pod;  // of the crowd
  // What may be, for each pod of the crowd:
  std::int64_t steps_to_come;
  std::int64_t steps_of_turn;  // of a neighbour's turn; besides what it takes without any crowd
  std::int64_t kept_bytes;
  std::int64_t steps_of_looks = 0;  // of a turn besides, however large the crowd
};

std::vector<Load> loads() {
  const auto waits = [](int i) { return pod_of("crowd", i).gpus(100); };
  return {
      {"pods of one shape that fit nowhere", waits, 4'000, 3, 3'000},
      {"pods that fit nowhere, each of another shape",
       [=](int i) { return waits(i).cpu(fmt::format("{}m", i)); }, 100'000, 20, 14'000},
      {"pods that fit nowhere, each by a label of its own",
       [](int i) { return pod_of("crowd", i).gpus(1).selects("own", fmt::format("{}", i)); },
       100'000, 3, 14'000},
      {"waiting pods, each with affinity to labels of its own",
       [](int i) { return pod_of("crowd", i).near(near_own(fmt::format("a{}", i))); }, 90'000, 1,
       12'000, 400'000},
      {"waiting pods, each with affinity to namespaces of its own selector",
       [](int i) {
         k8s::PodAffinityTerm term = near_own("a");
         term.namespace_selector.emplace().match_labels.set("team", fmt::format("t{}", i));
         return pod_of("crowd", i).near(std::move(term));
       },
       100'000, 1, 12'000, 400'000},
      {"bound pods with 30 terms of anti-affinity each",
       [](int i) {
         PodBuilder pod = pod_of("crowd", i).on(fmt::format("n{}", i % kNodes));
         for (int k = 0; k < 30; ++k) pod.away_from(near_own(fmt::format("a{}-{}", i, k)));
         return pod;
       },
       70'000, 1, 35'000, 100},
      {"bound pods with 30 terms each that select all pods, by labels that no node has",
       [](int i) {
         PodBuilder pod = pod_of("crowd", i).on(fmt::format("n{}", i % kNodes));
         for (int k = 0; k < 15; ++k) {
           k8s::PodAffinityTerm term;
           term.label_selector = k8s::LabelSelector();
           term.namespace_selector = k8s::LabelSelector();
           term.topology_key = fmt::format("k{}-{}", i, k);
           pod.away_from(term).rather_near(1, term);
         }
         return pod;
       },
       90'000, 1, 50'000, 100},
      {"waiting pods of the neighbour's shape, each near pods in 30 labels that no node has",
       [](int i) {
         PodBuilder pod = pod_of("crowd", i).gpus(1);
         for (int k = 0; k < 30; ++k) {
           k8s::PodAffinityTerm term = near_own("nobody");
           term.topology_key = fmt::format("k{}-{}", i, k);
           pod.near(term);
         }
         return pod;
       },
       200'000, 1, 120'000, 200'000},
      {"bound pods of many labels each",
       [](int i) {
         PodBuilder pod = pod_of("crowd", i).on(fmt::format("n{}", i % kNodes));
         for (int k = 0; k < 30; ++k) pod.labelled(fmt::format("l{}-{}", i, k), "x");
         return pod;
       },
       4'000, 1, 4'000},
  };
}

}  // namespace

TEST_CASE("a crowd costs a neighbour no more than so much for each of its pods") {
  Cluster empty;
  const Cost alone = cost_of([&] { empty.turn(); });
  for (const Load& load : loads()) {
    for (const int pods : {250, 1'000}) {
      Cluster cluster;
      const Cost came = cost_of([&] {
        for (int i = 0; i < pods; ++i) cluster.tell(event::PodUpserted{load.pod(i)});
      });
      cluster.turn();  // what waits learns for what
      const Cost turn = cost_of([&] { cluster.turn(); });
      INFO(pods << " " << load.name << ": to come " << came << ", a turn " << turn << ", alone "
                << alone);
      CHECK(came.steps <= load.steps_to_come * pods);
      CHECK(turn.steps - alone.steps <= load.steps_of_turn * pods + load.steps_of_looks);
      CHECK(came.kept_bytes <= load.kept_bytes * pods);
    }
  }
}

}  // namespace sched
