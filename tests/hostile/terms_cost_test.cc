// What affinity terms of many pods cost pods that they select, and those that they do not.
#include "scheduler/engine/engine.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace sched {

namespace {

using tests::Cluster;
using tests::cost_of;
using tests::kNodes;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;

}  // namespace

TEST_CASE("a new term of a bound pod costs a pod that it does not select no search of all terms") {
  const auto bound_with_terms = [](int i) {
    PodBuilder pod = pod_of("crowd", i).on(fmt::format("n{}", i % kNodes));
    for (int k = 0; k < 30; ++k) {
      k8s::PodAffinityTerm term = near_own(fmt::format("a{}-{}", i, k));
      term.namespace_selector.emplace();  // all
      pod.away_from(std::move(term));
    }
    return pod;
  };
  const auto cost_of_turn = [&](int pods) {
    Cluster cluster;
    for (int i = 0; i < pods; ++i) cluster.tell(event::PodUpserted{bound_with_terms(i)});
    cluster.turn();
    return cost_of([&] {
             cluster.tell(event::PodUpserted{bound_with_terms(pods)});
             cluster.turn();
           })
        .steps;
  };
  const std::int64_t few = cost_of_turn(100);
  const std::int64_t many = cost_of_turn(400);
  INFO(few << " steps with 100 pods, " << many << " with 400");
  CHECK(many <= few + few / 4);
}

TEST_CASE("what is kept for kinds of waiting pods does not grow with the terms that select them") {
  const auto kept_with = [](int terms) {
    Cluster cluster;
    for (int i = 0; i < terms / 50; ++i) {
      PodBuilder pod = pod_of("crowd", i).on(fmt::format("n{}", i % kNodes));
      for (int k = 0; k < 50; ++k) {
        k8s::PodAffinityTerm term = near_own("a");
        term.topology_key = "no-such-label";
        term.label_selector = k8s::LabelSelector();
        term.label_selector->match_expressions.push_back({.key = "app",
                                                          .op = k8s::SelectorOperator::kNotIn,
                                                          .values = {fmt::format("b{}-{}", i, k)}});
        pod.away_from(std::move(term));
      }
      cluster.tell(event::PodUpserted{pod});
    }
    return cost_of([&] {
             for (int i = 0; i < 300; ++i) {
               cluster.tell(event::PodUpserted{
                   pod_of("crowd", 1'000 + i).gpus(100).labelled("app", fmt::format("a{}", i))});
             }
           })
        .kept_bytes;
  };
  const std::int64_t few = kept_with(50);
  const std::int64_t many = kept_with(2'000);
  INFO(few << " bytes with 50 terms, " << many << " with 2,000");
  CHECK(many <= few + few / 4);  // a list of pointers for each kind would be 10 MB more
}

TEST_CASE("pods that wait for others are asked about a few at a time, however many there are") {
  constexpr std::int64_t kMostSteps = 500'000;  // all at once take millions
  const auto apart_by = [](const char* label, int i) {
    k8s::PodAffinityTerm term = near_own(label);
    term.label_selector->match_expressions.push_back(
        {.key = "app", .op = k8s::SelectorOperator::kNotIn, .values = {fmt::format("a{}", i)}});
    return term;
  };
  const std::vector<std::pair<const char*, std::function<k8s::Pod(int)>>> crowds = {
      {"near pods that are nowhere",
       [&](int i) { return pod_of("crowd", i).near(apart_by("nobody", i)); }},
      {"near pods in a zone whose nodes are not empty",
       [&](int i) { return pod_of("crowd", i).gpus(8).near(apart_by("anchor", i)); }}};
  for (const auto& [name, pod_of_crowd] : crowds) {
    Cluster cluster;
    for (int i = 0; i < kNodes; i += 3) {
      cluster.tell(event::PodUpserted{
          pod_of("crowd", -1 - i).gpus(1).labelled("app", "anchor").on(fmt::format("n{}", i))});
    }
    for (int i = 0; i < 1'000; ++i) cluster.tell(event::PodUpserted{pod_of_crowd(i)});
    std::int64_t most = 0;
    for (int turn = 0; turn < 30; ++turn) {
      most = std::max(most, cost_of([&] { cluster.turn(); }).steps);
    }
    INFO(name << ": " << most << " steps");
    CHECK(most <= kMostSteps);
  }
}

}  // namespace sched
