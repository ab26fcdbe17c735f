// Nodes that a rule across nodes rules out for a pod: the pod goes to the others, and is told why
// where there are none.
#include "tests/scheduler/engine/quota_cluster.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kReason = "node(s) didn't satisfy existing pods anti-affinity rules";

// The cluster with the plugin that knows required anti-affinity of running pods.
struct AntiAffinityCluster : QuotaCluster {
  explicit AntiAffinityCluster(TieBreak tie_break = {})
      : QuotaCluster({"InterPodAffinity"}, tie_break) {}
};

k8s::Node two_gpus_in_zone(const char* name, const char* zone) {
  return node(name).gpus(2).labelled("zone", zone).labelled("host", name);
}

k8s::PodAffinityTerm every_pod(const char* key) {
  k8s::PodAffinityTerm term;
  term.label_selector = k8s::LabelSelector{};
  term.namespace_selector = k8s::LabelSelector{};
  term.topology_key = key;
  return term;
}

k8s::Pod keeper(const char* on, const char* key) {
  return their_pod("keeper").in_namespace("theirs").on(on).away_from(every_pod(key));
}

}  // namespace

TEST_CASE("a running pod's required anti-affinity keeps others off its domain, and nothing more") {
  struct Case {
    const char* name;
    const char* key;
    Texts want;
  };
  const Case cases[] = {
      {"a label that no node has", "no-such-label", {"p → a1"}},
      {"its node", "host", {"p → a2"}},
      {"its zone", "zone", {"p → b1"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    AntiAffinityCluster s;
    s.has(two_gpus_in_zone("a1", "a"));
    s.has(two_gpus_in_zone("a2", "a"));
    s.has(two_gpus_in_zone("b1", "b"));
    s.has(keeper("a1", c.key));
    // So that all nodes are alike but for the keeper's rule.
    for (const char* other : {"a2", "b1"}) s.has(their_pod(other).on(other));
    s.has(our_pod("p").gpus(1));
    CHECK(s.decide() == c.want);
  }
}

TEST_CASE("a pod whose nodes are all excluded is told so, of no pod by name, and once") {
  AntiAffinityCluster s;
  s.has(two_gpus_in_zone("a1", "a"));
  s.has(two_gpus_in_zone("a2", "a"));
  s.has(node("full").gpus(0));
  s.has(keeper("a1", "zone"));
  s.has(our_pod("p").gpus(1));
  const Texts told = {std::string("p waits: 0/3 nodes are available: 1 Insufficient "
                                  "nvidia.com/gpu, 2 ") +
                      kReason + "."};
  CHECK(s.decide() == told);
  const auto explained = s.engine.explain(our_pod("p").gpus(1));
  CHECK("p waits: " + explained.message == told[0]);
  CHECK(explained.nodes[0].code == Code::kUnschedulable);
  CHECK(explained.nodes[0].plugin == "InterPodAffinity");
  CHECK(explained.nodes[0].reasons == std::vector<std::string>{kReason});
  CHECK(s.engine.candidates(our_pod("p").gpus(1), 9).empty());

  s.has(their_pod("passer-by").cpu("1").on("a2"));
  s.pod_gone(their_pod("passer-by").on("a2"));
  s.now += 2s;
  CHECK(s.decide().empty());  // woken, and nothing new to say
  CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
}

TEST_CASE("what brings back a pod whose nodes are all excluded") {
  const auto waits = [](AntiAffinityCluster& s) {
    s.has(two_gpus_in_zone("a1", "a"));
    s.has(two_gpus_in_zone("a2", "a"));
    s.has(keeper("a1", "zone"));
    s.has(our_pod("p").gpus(1));
    REQUIRE(s.decide().size() == 1);
  };
  SECTION("the running pod goes") {
    AntiAffinityCluster s;
    waits(s);
    s.pod_gone(keeper("a1", "zone"));
    CHECK(s.decide() == Texts{"p → a1"});
  }
  SECTION("its node goes") {
    AntiAffinityCluster s;
    waits(s);
    s.node_gone("a1");
    CHECK(s.decide() == Texts{"p → a2"});
  }
  SECTION("a node comes elsewhere") {
    AntiAffinityCluster s;
    waits(s);
    s.has(two_gpus_in_zone("b1", "b"));
    CHECK(s.decide() == Texts{"p → b1"});
  }
  SECTION("a node moves elsewhere") {
    AntiAffinityCluster s;
    waits(s);
    s.has(two_gpus_in_zone("a2", "b"));
    CHECK(s.decide() == Texts{"p → a2"});
  }
  SECTION("room comes elsewhere") {
    AntiAffinityCluster s;
    s.has(two_gpus_in_zone("b1", "b"));
    s.has(their_pod("one").gpus(1).on("b1"));
    s.has(their_pod("two").gpus(1).on("b1"));
    waits(s);
    s.has(our_pod("q").gpus(2));
    REQUIRE(s.decide().size() == 1);
    s.pod_gone(their_pod("one").on("b1"));
    CHECK(s.decide() == Texts{"p → b1"});
    s.pod_gone(our_pod("p"));
    s.pod_gone(their_pod("two").on("b1"));
    CHECK(s.decide() == Texts{"q → b1"});
    CHECK(s.engine.next_wakeup() == std::nullopt);
  }
}

TEST_CASE("scores are measured over the nodes that are not excluded") {
  // Of the nodes with preferences the one that has most of them is excluded: the next counts full.
  AntiAffinityCluster s;
  for (const char* name : {"a1", "b1", "b2"}) {
    k8s::Node made = two_gpus_in_zone(name, std::string(name, 1).c_str());
    made.metadata.labels.set("rank", std::string(name) == "a1" ? "9" : name[1] == '2' ? "1" : "0");
    s.has(made);
  }
  s.has(keeper("a1", "host"));
  PodBuilder pod = our_pod("p").gpus(1);
  pod.prefers_nodes(100, term({label("rank").in({"9"})}));
  pod.prefers_nodes(10, term({label("rank").in({"1"})}));
  s.has(pod);
  const auto decided = s.decisions();
  REQUIRE(decided.size() == 1);
  const auto& bind = std::get<decision::Bind>(decided[0]);
  CHECK(bind.node == "b2");
  CHECK(bind.feasible_nodes == 2);
  std::int64_t total = 0;
  for (const PluginScore& score : bind.scores) {
    total += score.score * score.weight;
    if (score.plugin == "NodeAffinity") CHECK(score.score == 100);
  }
  CHECK(total == bind.total_score);
}

TEST_CASE("random tie-breaks draw among the nodes that are not excluded") {
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    AntiAffinityCluster s({TieBreak::Order::kRandom, seed});
    for (const char* name : {"n1", "n2", "n3", "n4"}) s.has(two_gpus_in_zone(name, "z"));
    s.has(keeper("n2", "host"));
    s.has(our_pod("p").gpus(1));
    drawn.insert(s.decide().at(0));
  }
  CHECK(drawn == std::set<std::string>{"p → n1", "p → n3", "p → n4"});
}

TEST_CASE("a pod under quota borrows where all nodes within its guarantee are excluded") {
  AntiAffinityCluster s;
  s.has(h100("h1"));
  s.has(l4("l1"));
  s.has(gpu_quota("team").of("team").in_cohort("c").line("L4", 4).line("H100", 0));
  s.has(gpu_quota("other").of("other").in_cohort("c").line("H100", 8));
  k8s::Node with_host = l4("l1");
  with_host.metadata.labels.set("host", "l1");
  s.has(with_host);
  s.has(keeper("l1", "host"));
  s.has(in("team", "p", 1));
  CHECK(s.decide() == Texts{"p → h1"});
  s.has(in("team", "large", 9));
  s.has(in("other", "q", 7));
  s.decide();
  s.has(in("team", "r", 1));
  const Texts told = s.decide();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find(kReason) != std::string::npos);
  s.pod_gone(keeper("l1", "host"));
  CHECK(s.decide() == Texts{"r → l1"});
}

TEST_CASE("a node is held for a pod with rules as for others, where all are full") {
  AntiAffinityCluster s;
  s.has(gpu_quota("team").of("team").line("L4", 8));
  for (const char* name : {"a1", "b1"}) {
    k8s::Node made = l4(name, 2);
    made.metadata.labels.set("host", name);
    s.has(made);
    for (const char* number : {"1", "2"}) {
      s.has(their_pod(std::string(name) + "-" + number).gpus(1).on(name));
    }
  }
  s.has(keeper("a1", "host"));
  s.has(in("team", "p", 2));
  REQUIRE(s.decide().size() == 1);
  s.now += 11min;
  s.decide();
  s.pod_gone(their_pod("b1-1").on("b1"));
  s.has(in("team", "young", 1));
  const Texts told = s.decide();
  CHECK(std::count(told.begin(), told.end(), "young → b1") == 0);
  s.pod_gone(their_pod("b1-2").on("b1"));
  CHECK(s.decide().at(0) == "p → b1");
}
