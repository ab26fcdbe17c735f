// A tenant makes up names of resources: others' names keep their meaning, and names that are not
// used any more are forgotten.
#include "scheduler/engine/names_in_use.h"

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/line/assumed_pods.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kMig = "nvidia.com/mig-1g.10gb";

// A pod with as many names of its own as a pod may have.
k8s::Pod with_made_up_names(int number) {
  k8s::Container made = container("made-up", {});
  for (std::size_t i = 0; i < kMostResourcesOfPod; ++i) {
    made.requests.emplace_back(fmt::format("example.com/r{}-{}", number, i), k8s::Quantity::of(1));
  }
  return our_pod(fmt::format("made-up-{}", number)).with(made);
}

struct NamesCluster : Scheduler {
  NamesCluster() {
    has(node("plain").cpu("8"));
    synced();
  }
  // 12,000 names, all of which are told to fit nowhere.
  void fill() {
    for (int i = 0; i < 200; ++i) has(with_made_up_names(i));
    CHECK(decide().size() == 200);
  }
  void come_and_go() {
    fill();
    for (int i = 0; i < 200; ++i) pod_gone(with_made_up_names(i));
  }
};

std::string lacks(const std::string& pod, const std::string& resource) {
  return pod + " waits: 0/1 nodes are available: 1 Insufficient " + resource + ".";
}

}  // namespace

TEST_CASE("names that pods make up take nothing from those that nodes offer") {
  NamesCluster s;
  s.fill();
  s.has(our_pod("early").requests(kMig, "1"));
  CHECK(s.decide() == Texts{lacks("early", kMig)});
  s.has(node("mig").offers(kMig, "2"));
  CHECK(s.decide() == Texts{"early → mig"});
  s.has(our_pod("late").requests(kMig, "1"));
  CHECK(s.decide() == Texts{"late → mig"});
}

TEST_CASE("what pods take keeps its meaning while names come and go") {
  NamesCluster s;
  s.has(their_pod("there").requests(kMig, "1").on("plain"));
  s.come_and_go();
  s.has(node("plain").cpu("8").offers(kMig, "1"));
  s.has(our_pod("a").requests(kMig, "1"));
  CHECK(s.decide() == Texts{lacks("a", kMig)});
  s.come_and_go();
  s.pod_gone(their_pod("there"));
  CHECK(s.decide() == Texts{"a → plain"});
}

TEST_CASE("what a node offered before its device plugin restarted keeps its meaning") {
  NamesCluster s;
  const auto offers = [](const char* amount) {
    return node("mig").product("NVIDIA-H100-80GB-HBM3").offers(kMig, amount);
  };
  s.has(offers("2"));
  s.has(offers("0"));
  s.come_and_go();
  s.has(offers("0").labelled("rack", "r1"));
  s.has(offers("2"));
  s.has(our_pod("a").requests(kMig, "1"));
  CHECK(s.decide() == Texts{"a → mig"});
}

TEST_CASE("a name that is forgotten is another when it comes again") {
  NamesCluster s;
  for (const char* resource : {"example.com/a", "example.com/b", "example.com/a"}) {
    s.has(our_pod("p").requests(resource, "1"));
    CHECK(s.decide() == Texts{lacks("p", resource)});
    s.pod_gone(our_pod("p"));
    s.come_and_go();
  }
  s.has(node("plain").cpu("8").offers("example.com/b", "1"));
  s.has(our_pod("a").requests("example.com/a", "1"));
  s.has(our_pod("b").requests("example.com/b", "1"));
  CHECK(s.decide() == Texts{lacks("a", "example.com/a"), "b → plain"});
}

TEST_CASE("a pod that changes while it is assumed asks for what it says if its bind fails") {
  NamesCluster s;
  s.has(our_pod("a").cpu("1"));
  CHECK(s.decide() == Texts{"a → plain"});
  s.has(our_pod("a").requests("example.com/new", "1"));
  s.come_and_go();
  s.bind_failed(our_pod("a"), "plain");
  s.now += 1s;
  CHECK(s.decide() == Texts{lacks("a", "example.com/new")});
}

TEST_CASE("names by the hundred thousand in pods that come and go leave some thousands at most") {
  World world{profiles(), {}};
  NodeBackoffs backoffs{world};
  ForeignGpuPods foreign;
  MisnamedSchedulers misnamed;
  NodeComplaints complaints;
  Finder finder{world};
  struct NoQuotas final : Accounts {
    quota::Standing standing(const Entity&) const override { return {}; }
    std::vector<quota::InPool> in_pools(QueueId) const override { return {}; }
    bool lends(quota::PoolId) const override { return false; }
    std::uint64_t searched() const override { return 0; }
    std::optional<WaitsFor> known_obstacle(const Entity&) override { return std::nullopt; }
    std::optional<WaitsFor> obstacle(const Entity&) override { return std::nullopt; }
  } accounts;
  Queues queue{accounts};
  Waking waking{world, queue};
  Holds holds{world, finder, queue};
  QuotaSearch search{world, finder, queue, holds};
  PodGroups groups{world, queue, waking};
  AssumedPods assumed{world, queue, waking, groups};
  Plans plans{world, finder, queue, search, assumed, groups};
  Intake intake{{world, queue, waking, groups, plans, backoffs, foreign, misnamed, complaints}};
  intake.apply(event::NodeUpserted{node("n").offers(kMig, "7")}, kStart);

  std::size_t most = 0;
  const std::size_t names = tests::amount(250'000, 1'000'000);
  const int pods = static_cast<int>(names / kMostResourcesOfPod) + 1;
  for (int i = 0; i < pods; ++i) {
    const k8s::Pod pod = with_made_up_names(i);
    intake.apply(event::PodUpserted{pod}, kStart);
    // Some are tried: caches keep their shapes, but not what they name.
    Entity* const next = queue.next();
    REQUIRE(next != nullptr);
    const WaitingPod& waiting = pod_of(*next);
    if (i % 50 == 0) CHECK(finder.refresh(waiting.profile, waiting.shape).feasible() == 0);
    intake.apply(event::PodDeleted{Scheduler::ref(pod)}, kStart);
    most = std::max(most, world.names.end_of_ids());
  }
  CHECK(most < 2 * kFewNames);
  CHECK(world.names.find(kMig));
}
