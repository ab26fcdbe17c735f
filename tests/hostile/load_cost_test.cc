// What a crowd of one tenant's pods costs a neighbour: steps and bytes, for each pod of the crowd.
//
// The crowd is there; then one of the neighbour's pods ends and another comes, which is bound. A
// crowd may cost that so many steps, whether or not it grows with the crowd. Where something grew
// with its square, four times the crowd would pass the bounds. Of those that wait for others some
// are asked about in each turn, and that must not grow at all.
#include "plugins/registry.h"
#include "scheduler/engine/engine.h"
#include "scheduler/engine/world/pod_group.h"
#include "scheduler/engine/world/topology_rejections.h"
#include "scheduler/framework/long_lists.h"
#include "scheduler/quota/charged_as.h"
#include "tests/hostile/cost.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/gpu_quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sched {

namespace {

using tests::Cost;
using tests::cost_of;
using tests::PodBuilder;

constexpr int kNodes = 200;

Profile default_profile() {
  Profile made;
  made.scheduler_name = "gpu-scheduler";
  const k8s::yaml::Value nothing;
  for (const PluginEntry& entry : plugins::registry()) {
    if (!entry.on_by_default) continue;
    k8s::yaml::ObjectReader args(nothing, "test");
    PluginInstance plugin = entry.make(args);
    if (plugin.filter) made.filters.push_back(std::move(plugin.filter));
    if (plugin.score) made.scores.push_back({std::move(plugin.score), entry.default_weight});
    if (plugin.constraint) {
      made.constraints.emplace_back(std::move(plugin.constraint), true, entry.default_weight);
    }
  }
  return made;
}

k8s::Node node_of(int i) {
  return tests::node(fmt::format("n{}", i))
      .gpus(8)
      .labelled("topology.kubernetes.io/zone", fmt::format("z{}", i % 3));
}

PodBuilder pod_of(const char* team, int i) {
  const std::string name = fmt::format("{}-{}", team, i);
  return tests::pod(name).in_namespace(team).uid(name).served_by("gpu-scheduler").cpu("1m");
}

k8s::PodAffinityTerm near_own(const std::string& value) {
  return tests::pods_like({{"app", value}}, "topology.kubernetes.io/zone");
}

class Cluster {
 public:
  explicit Cluster(const EngineMemory& memory = {}, std::optional<Preemption> preemption = {})
      : engine_(profiles(preemption), options(memory)) {
    for (int i = 0; i < kNodes; ++i) tell(event::NodeUpserted{node_of(i)});
    tell(event::Synced{});
    neighbour_comes();
  }

  void tell(Event event) {
    engine_.apply(std::move(event), now_);
    while (auto decision = engine_.step(now_)) {
      if (const auto* prepare = std::get_if<decision::Prepare>(&*decision)) {
        plans_.push_back(prepare->plan);
      }
      if (auto* bind = std::get_if<decision::Bind>(&*decision)) bound_ = std::move(*bind);
    }
  }
  // What has to be written for pods before they are bound is written.
  void prepare_all() {
    for (const std::uint64_t plan : std::exchange(plans_, {})) {
      tell(event::Prepared{.plan = plan, .failure = {}});
    }
  }

  // Time passes; returns how many decisions there are then.
  int pass(Time::duration time) {
    now_ += time;
    int decisions = 0;
    while (engine_.step(now_)) ++decisions;
    return decisions;
  }

  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] Time now() const { return now_; }

  // One of the neighbour's pods ends, and another comes.
  void turn() {
    now_ += std::chrono::milliseconds(100);
    tell(event::PodDeleted{{"neighbour", bound_.pod.name, bound_.pod.uid}});
    neighbour_comes();
  }

  // One of the neighbour's pods comes, and is bound.
  void neighbour_comes() {
    k8s::Pod pod = pod_of("neighbour", ++neighbours_).gpus(1);
    tell(event::PodUpserted{pod});
    REQUIRE(bound_.pod.name == pod.metadata.name);
    tell(event::BindSucceeded{bound_.pod, bound_.node});
    pod.spec.node_name = bound_.node;
    if (bound_.charged_as) {
      pod.metadata.annotations.set(quota::kChargedAsAnnotation, *bound_.charged_as);
      pod.metadata.annotations.set(quota::kChargedAtAnnotation, quota::text_of(bound_.charged_at));
    }
    tell(event::PodUpserted{std::move(pod)});
  }

 private:
  static std::vector<Profile> profiles(std::optional<Preemption> preemption) {
    std::vector<Profile> made;
    made.push_back(default_profile());
    made.back().preemption = preemption;
    return made;
  }

  static EngineOptions options(const EngineMemory& memory) {
    EngineOptions made;
    made.memory = memory;
    return made;
  }

  Time now_{std::chrono::seconds{1'000'000}};
  Engine engine_;
  decision::Bind bound_;
  std::vector<std::uint64_t> plans_;  // in preparation
  int neighbours_ = 0;
};

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

k8s::StorageClass waiting_class() {
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "p";
  made.binding_mode = "WaitForFirstConsumer";
  return made;
}

k8s::PersistentVolumeClaim claim_of(const std::string& team, const std::string& name,
                                    const std::string& storage_class) {
  k8s::PersistentVolumeClaim made;
  made.metadata.name = name;
  made.metadata.namespace_ = team;
  made.metadata.uid = team + name;
  made.storage_class = storage_class;
  made.phase = "Pending";
  return made;
}

// A group of two, of which one needs a claim that is not bound yet, is starting; so many more of
// its pods come.
void begin_with_followers(Cluster& cluster, int followers) {
  cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
  cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", "c", "made")});
  for (int i = 0; i < 2 + followers; ++i) {
    PodBuilder pod = pod_of("crowd", i);
    pod.annotated("gpu-scheduler.io/pod-group", "g");
    pod.annotated("gpu-scheduler.io/pod-group-min-count", "2");
    if (i == 0) pod.mounts_claim("c");
    cluster.tell(event::PodUpserted{pod});
  }
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

TEST_CASE("what is held for pods that have waited long costs a decision no search of all quotas") {
  constexpr int kQuotas = 150;
  constexpr int kPodsOfEach = 40;
  Cluster cluster;
  for (int i = 0; i < kNodes; ++i) {
    cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(1).on(fmt::format("n{}", i))});
  }
  for (int i = 0; i < kQuotas; ++i) {
    const std::string name = fmt::format("team-{}", i);
    cluster.tell(event::QuotaUpserted{tests::gpu_quota(name).of(name).line("*", 16 * kPodsOfEach)});
    for (int k = 0; k < kPodsOfEach; ++k) {
      cluster.tell(event::PodUpserted{pod_of(name.c_str(), k).gpus(8)});
    }
  }
  cluster.pass(std::chrono::minutes(5));
  int decisions = 0;
  const Cost cost = cost_of([&] { decisions = cluster.pass(std::chrono::minutes(6)); });
  INFO(decisions << " decisions: " << cost);
  REQUIRE(decisions >= kQuotas * kPodsOfEach);
  // 21,000; 35,000 where each quota looks through its line and holds at every decision.
  CHECK(cost.steps / decisions <= 28'000);
}

TEST_CASE("plans that wait for room, however many, cost a bind hardly anything") {
  // Each plan counts those behind it, so looking at all of them takes steps by their square.
  const auto cost_of_bind = [](int plans) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 16 * plans)});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("other").of("neighbour").line("*", 8)});
    for (int i = 1; i < kNodes; ++i) {
      PodBuilder pod = pod_of(i <= plans ? "crowd" : "filler", kNodes + i);
      pod.gpus(i <= plans ? 8 : 7).priority(i <= plans ? 0 : 2).on(fmt::format("n{}", i));
      cluster.tell(event::PodUpserted{pod});
    }
    for (int i = 0; i < plans; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(8).priority(1)});
    }
    REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(plans));
    REQUIRE(cluster.engine().in_line("crowd").empty());
    cluster.neighbour_comes();
    return cost_of([&] { cluster.neighbour_comes(); }).steps;
  };
  const std::int64_t few = cost_of_bind(50);
  const std::int64_t many = cost_of_bind(100);
  INFO(few << " steps with 50 plans, " << many << " with 100");
  CHECK(2 * many <= 3 * few);
}

TEST_CASE("a pod that leaves its quota costs plans that wait for room no square of their number") {
  // Each plan counts without those behind it. All are looked at, since quota may allow more.
  const auto cost_of_leaving = [](int plans) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 16 * plans)});
    for (int i = 1; i < kNodes; ++i) {
      PodBuilder pod = pod_of(i <= plans ? "crowd" : "filler", kNodes + i);
      pod.gpus(i <= plans ? 8 : 7).priority(i <= plans ? 0 : 2).on(fmt::format("n{}", i));
      cluster.tell(event::PodUpserted{pod});
    }
    for (int i = 0; i < plans; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(8).priority(1)});
    }
    REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(plans));
    REQUIRE(cluster.engine().in_line("crowd").empty());
    const std::string leaves = fmt::format("crowd-{}", kNodes + 1);
    return cost_of([&] { cluster.tell(event::PodDeleted{{"crowd", leaves, leaves}}); }).steps;
  };
  const std::int64_t few = cost_of_leaving(45);
  const std::int64_t many = cost_of_leaving(180);
  INFO(few << " steps with 45 plans, " << many << " with 180");
  CHECK(many <= 6 * few);
}

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
    std::function<PodBuilder(int)> pod;
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
        const k8s::Pod pod = crowd.pod(i);
        cluster.tell(event::PodUpserted{pod});
        cluster.tell(
            event::PodDeleted{{pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid}});
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

TEST_CASE("rejected pods, however many, cost a decision nothing until a node is tried again") {
  TopologyRejections rejections;
  const Time now{std::chrono::seconds{1'000'000}};
  const TopologyRejections::Requests requests = {{"nvidia.com/gpu", 1}};
  for (std::size_t i = 0; i < TopologyRejections::kMost; ++i) {
    rejections.add(fmt::format("n{}", i), requests, fmt::format("uid-{}", i), now);
  }
  const Time end = now + TopologyRejections::kShortest;
  CHECK(cost_of([&] { rejections.forget(end - std::chrono::seconds(1)); }).steps < 20);
  CHECK(cost_of([&] { static_cast<void>(rejections.next_end()); }).steps < 20);
  CHECK_FALSE(rejections.none());
  rejections.forget(end);
  CHECK(rejections.none());
  CHECK(cost_of([&] { rejections.forget(end); }).steps < 20);
}

TEST_CASE("a pod that is refused for its many terms costs no more under a quota") {
  const auto cost_with = [](bool quota) {
    Cluster cluster;
    if (quota) {
      cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 1'000)});
    }
    PodBuilder pod = pod_of("crowd", 1).gpus(1);
    for (int k = 0; k < 60; ++k) pod.away_from(near_own(fmt::format("a{}", k)));
    return cost_of([&] { cluster.tell(event::PodUpserted{pod}); });
  };
  const Cost with = cost_with(true);
  const Cost without = cost_with(false);
  INFO(with << " with a quota, " << without << " without");
  CHECK(with.steps <= 2 * without.steps);
  CHECK(with.kept_bytes <= 2 * without.kept_bytes);
}

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

TEST_CASE("a search for a group whose pods have many terms ends, however many pods it has") {
  // The last pod fits nowhere, so that the others have no nodes after the search. `alike`: their
  // terms and labels are equal.
  const auto cost_of_last = [](int pods, bool alike) {
    const auto member = [&](int i) {
      PodBuilder pod = pod_of("crowd", i).labelled("app", alike ? "a" : fmt::format("a{}", i));
      pod.annotated("gpu-scheduler.io/pod-group", "g");
      pod.annotated("gpu-scheduler.io/pod-group-min-count", std::to_string(pods));
      for (int k = 0; k < 32; ++k) {
        k8s::PodAffinityTerm term = near_own(fmt::format("b{}-{}", alike ? 0 : i, k));
        term.topology_key = "no-such-label";
        pod.away_from(std::move(term));
      }
      return pod;
    };
    Cluster cluster;
    for (int i = 1; i < pods; ++i) cluster.tell(event::PodUpserted{member(i)});
    return cost_of([&] { cluster.tell(event::PodUpserted{member(pods).gpus(100)}); }).steps;
  };
  const std::int64_t few = cost_of_last(200, false);
  const std::int64_t many = cost_of_last(400, false);
  INFO(few << " steps of 200 pods, " << many << " of 400");
  CHECK(few <= 75'000'000);
  CHECK(many <= 2 * few);
  const std::int64_t replicas = cost_of_last(400, true);
  INFO(replicas << " of 400 replicas");
  CHECK(replicas <= 100'000'000);
}

TEST_CASE("pods with many claims that wait cost a turn a bounded number of steps") {
  const auto cost_of_turns = [](int claims) {
    Cluster cluster;
    k8s::StorageClass local;
    local.metadata.name = "local";
    local.provisioner = "kubernetes.io/no-provisioner";
    local.binding_mode = "WaitForFirstConsumer";
    cluster.tell(event::Upserted<k8s::StorageClass>{local});
    // So that nodes have to be asked, though none has as many volumes as there are claims.
    k8s::PersistentVolume free = tests::volume("free");
    free.storage_class = "local";
    free.phase = "Available";
    free.capacity_bytes = 1;
    free.node_affinity.emplace().terms.push_back(
        tests::term({tests::label("kubernetes.io/hostname").in({"n0"})}));
    cluster.tell(event::VolumeUpserted{free});
    for (int i = 0; i < 40; ++i) {
      PodBuilder pod = pod_of("crowd", i);
      for (int k = 0; k < claims; ++k) {
        k8s::PersistentVolumeClaim claim;
        claim.metadata.name = fmt::format("c{}-{}", i, k);
        claim.metadata.namespace_ = "crowd";
        claim.metadata.uid = claim.metadata.name;
        claim.storage_class = "local";
        claim.phase = "Pending";
        cluster.tell(event::VolumeClaimUpserted{claim});
        pod.mounts_claim(claim.metadata.name);
      }
      cluster.tell(event::PodUpserted{pod});
    }
    std::int64_t most = 0;
    for (int turn = 0; turn < 30; ++turn) {
      most = std::max(most, cost_of([&] { cluster.turn(); }).steps);
    }
    return most;
  };
  const std::int64_t most = cost_of_turns(50);
  INFO(most << " steps");
  // 13 million, with Debian 13's compiler 17. All are looked at in one turn, for there are only so
  // many nodes.
  CHECK(most <= 20'000'000);
}

TEST_CASE("pods that wait for the node of one volume cost as one when it gets room") {
  const auto cost_of_room = [](int pods) {
    Cluster cluster;
    k8s::PersistentVolume volume = tests::volume("data");
    volume.node_affinity.emplace().terms.push_back(
        tests::term({tests::label("kubernetes.io/hostname").in({"n0"})}));
    cluster.tell(event::VolumeUpserted{volume});
    k8s::PersistentVolumeClaim claim = tests::claim("data", "data");
    claim.metadata.namespace_ = "crowd";
    cluster.tell(event::VolumeClaimUpserted{claim});
    k8s::Node full = node_of(0);
    full.metadata.labels.set("kubernetes.io/hostname", "n0");
    cluster.tell(event::NodeUpserted{full});
    const k8s::Pod first = pod_of("crowd", 0).gpus(8).on("n0");
    cluster.tell(event::PodUpserted{first});
    for (int i = 1; i <= pods; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(8).mounts_claim("data")});
    }
    return cost_of([&] {
             cluster.tell(event::PodDeleted{{"crowd", first.metadata.name, first.metadata.uid}});
             cluster.pass(std::chrono::seconds(10));
           })
        .steps;
  };
  const std::int64_t few = cost_of_room(50);
  const std::int64_t many = cost_of_room(500);
  INFO(few << " steps with 50 pods, " << many << " with 500");
  CHECK(many <= 2 * few);
}

TEST_CASE("a change of a volume costs a group that is starting nothing if no pod mounts it") {
  const auto cost_of_change = [](int followers) {
    Cluster cluster;
    begin_with_followers(cluster, followers);
    return cost_of([&] {
             cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", "another", "made")});
           })
        .steps;
  };
  const std::int64_t few = cost_of_change(500);
  const std::int64_t many = cost_of_change(1'000);
  INFO(few << " steps with 500 that follow, " << many << " with 1,000");
  CHECK(many <= few + few / 4);
}

TEST_CASE(
    "pods that wait for their volumes cost changes of other objects no look at each of them") {
  struct Steps {
    std::int64_t written = 0;  // of all pods
    std::int64_t claim = 0;
    std::int64_t volume = 0;
  };
  const auto cost_with = [](int pods) {
    Cluster cluster;
    cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
    for (int i = 0; i < pods; ++i) {
      const std::string name = fmt::format("c{}", i);
      cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", name, "made")});
      cluster.tell(event::PodUpserted{pod_of("crowd", i).mounts_claim(name)});
    }
    Steps steps;
    steps.written = cost_of([&] { cluster.prepare_all(); }).steps;
    k8s::PersistentVolumeClaim changed = claim_of("crowd", "c0", "made");
    changed.metadata.resource_version = "2";
    steps.claim = cost_of([&] { cluster.tell(event::VolumeClaimUpserted{changed}); }).steps;
    steps.volume = cost_of([&] { cluster.tell(event::VolumeUpserted{tests::volume("v")}); }).steps;
    return steps;
  };
  const Steps few = cost_with(250);
  const Steps many = cost_with(1'000);
  INFO("written " << few.written << " and " << many.written << ", a claim " << few.claim << " and "
                  << many.claim << ", a volume " << few.volume << " and " << many.volume);
  CHECK(many.written <= 5 * few.written);
  CHECK(many.claim <= few.claim + few.claim / 2);
  CHECK(many.volume <= few.volume + few.volume / 2);
}

TEST_CASE("as many pods follow a group that is starting as may start together, and no more") {
  constexpr auto kMost = static_cast<int>(PodGroup::kMostPods);
  Cluster cluster;
  begin_with_followers(cluster, kMost + 50);
  CHECK(cluster.engine().pending().unschedulable == 50);
  cluster.prepare_all();
  k8s::PersistentVolumeClaim bound = claim_of("crowd", "c", "made");
  bound.volume_name = "v";
  bound.phase = "Bound";
  bound.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  cluster.tell(event::VolumeUpserted{tests::volume("v")});
  cluster.tell(event::VolumeClaimUpserted{bound});
  // It has started, and so the others are placed.
  CHECK(cluster.engine().pending().unschedulable == 0);
  CHECK(cluster.engine().pending().active == 0);
}

TEST_CASE("a claim that many pods wait for costs others no more at each change of it") {
  Cluster empty;
  const Cost alone = cost_of([&] { empty.turn(); });
  const auto selected = [](const std::string& node) {
    k8s::PersistentVolumeClaim made = claim_of("crowd", "c", "none-such");
    made.metadata.annotations.set("volume.kubernetes.io/selected-node", node);
    return made;
  };
  for (const int pods : {1'000, 4'000}) {
    Cluster cluster;
    cluster.tell(event::VolumeClaimUpserted{selected("n0")});
    for (int i = 0; i < pods; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).mounts_claim("c")});
    }
    REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(pods));
    cluster.turn();
    k8s::PersistentVolumeClaim labelled = selected("n0");
    labelled.metadata.resource_version = "2";
    labelled.metadata.labels.set("a", "b");
    const Cost nothing = cost_of([&] { cluster.tell(event::VolumeClaimUpserted{labelled}); });
    // What matters is looked at, but some pods at a time.
    cluster.tell(event::VolumeClaimUpserted{selected("n1")});
    const Cost turn = cost_of([&] {
      cluster.tell(event::VolumeClaimUpserted{selected("n2")});
      cluster.turn();
    });
    INFO(pods << " pods: " << nothing << " for labels, " << turn << " for a turn, " << alone
              << " alone");
    CHECK(nothing.steps <= 20'000);
    CHECK(turn.steps - alone.steps <= 1'000'000);  // all at once take millions
    int decisions = 0;
    for (int i = 0; i < 30; ++i) decisions += cluster.pass(std::chrono::milliseconds(10));
    CHECK(decisions == 0);  // they are told the same as before
    const auto wakeup = cluster.engine().next_wakeup();
    REQUIRE(wakeup);
    CHECK(*wakeup > cluster.now());
  }
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
