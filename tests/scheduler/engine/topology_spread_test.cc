// Topology spread constraints with whenUnsatisfiable DoNotSchedule.
#include "tests/scheduler/engine/domains_cluster.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kSkewed =
    "Unschedulable PodTopologySpread: node(s) didn't match pod topology spread constraints";
constexpr const char* kNoLabel =
    "UnschedulableAndUnresolvable PodTopologySpread: node(s) didn't match pod topology spread "
    "constraints (missing required label)";

struct SpreadCluster : DomainsCluster {
  explicit SpreadCluster(const std::vector<k8s::Pod>& running = {})
      : DomainsCluster("PodTopologySpread", running) {}
};

k8s::TopologySpreadConstraint over(const char* key, int max_skew = 1) {
  k8s::TopologySpreadConstraint made;
  made.topology_key = key;
  made.max_skew = max_skew;
  made.label_selector = selector({{"app", "web"}});
  return made;
}
template <typename Change>
k8s::TopologySpreadConstraint over(const char* key, Change&& change) {
  k8s::TopologySpreadConstraint made = over(key);
  change(made);
  return made;
}

}  // namespace

TEST_CASE("which nodes a spread constraint leaves a pod") {
  struct Case {
    const char* name;
    std::vector<k8s::Pod> running;
    k8s::Pod pod;
    const char* want;
    const char* why;  // of the first that is refused
  };
  using Constraint = k8s::TopologySpreadConstraint;
  const auto two_in_a = [] { return std::vector<k8s::Pod>{runs("1", "a1"), runs("2", "a2")}; };
  const std::vector<Case> cases = {
      {"nobody yet", {}, asks().spread_over(over("zone")), "a1 a2 b1 b2", kNoLabel},
      {"one more in a", {runs("1", "a1")}, asks().spread_over(over("zone")), "b1 b2", kSkewed},
      {"a skew of two",
       {runs("1", "a1")},
       asks().spread_over(over("zone", 2)),
       "a1 a2 b1 b2",
       kNoLabel},
      {"two more, a skew of two", two_in_a(), asks().spread_over(over("zone", 2)), "b1 b2",
       kSkewed},
      {"a pod that is not counted itself",
       {runs("1", "a1")},
       our_pod("p").spread_over(over("zone")),
       "a1 a2 b1 b2",
       kNoLabel},
      {"over nodes",
       {runs("1", "a1"), runs("2", "b1")},
       asks().spread_over(over("host")),
       "a2 b2 c0",
       kSkewed},
      {"over both",
       {runs("1", "a1")},
       asks().spread_over(over("zone")).spread_over(over("host")),
       "b1 b2",
       kSkewed},
      // The node without a zone would be the emptiest of hosts.
      {"a node without one of the keys does not count",
       {runs("1", "a1"), runs("2", "a2"), runs("3", "b1"), runs("4", "b2")},
       asks().spread_over(over("host")).spread_over(over("zone")),
       "a1 a2 b1 b2",
       kNoLabel},
      {"a label that no node has", {}, asks().spread_over(over("rack")), "", kNoLabel},
      {"terminating pods do not count",
       {runs("1", "a1").terminating()},
       asks().spread_over(over("zone")),
       "a1 a2 b1 b2",
       kNoLabel},
      {"other namespaces do not",
       {runs("1", "a1").in_namespace("other")},
       asks().spread_over(over("zone")),
       "a1 a2 b1 b2",
       kNoLabel},
      {"fewer domains than minDomains",
       {runs("1", "a1"), runs("2", "b1")},
       asks().spread_over(over("zone", [](Constraint& each) { each.min_domains = 3; })),
       "",
       kSkewed},
      {"as many",
       {runs("1", "a1"), runs("2", "b1")},
       asks().spread_over(over("zone", [](Constraint& each) { each.min_domains = 2; })),
       "a1 a2 b1 b2",
       kNoLabel},
      {"of a null selector nobody", two_in_a(),
       asks().spread_over(over("zone", [](Constraint& each) { each.label_selector.reset(); })),
       "a1 a2 b1 b2", kNoLabel},
      {"of an empty one nobody is counted", two_in_a(),
       asks().spread_over(
           over("zone", [](Constraint& each) { each.label_selector = k8s::LabelSelector{}; })),
       "a1 a2 b1 b2", kNoLabel},
      {"matchLabelKeys: only of its version",
       {runs("1", "a1").labelled("version", "1"), runs("2", "b1").labelled("version", "2")},
       asks()
           .labelled("version", "2")
           .spread_over(
               over("zone", [](Constraint& each) { each.match_label_keys = {"version"}; })),
       "a1 a2",
       kSkewed},
      {"nodes that the pod may not use do not count",
       {runs("1", "a1")},
       asks().selects("zone", "a").spread_over(over("zone")),
       "a1 a2",
       nullptr},
      {"they do where told so",
       {runs("1", "a1")},
       asks()
           .selects("zone", "a")
           .spread_over(over("zone", [](Constraint& each) { each.node_affinity_honor = false; })),
       "",
       kSkewed},
      {"ScheduleAnyway rules nothing out",
       {runs("1", "a1")},
       asks().spread_over(over("zone", [](Constraint& each) { each.do_not_schedule = false; })),
       "a1 a2 b1 b2 c0",
       nullptr},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    SpreadCluster s(each.running);
    CHECK(s.allowed(each.pod) == each.want);
    if (each.why != nullptr) CHECK(s.refused.begin()->second == std::string(each.why));
  }
}

TEST_CASE("tainted nodes count as domains unless the constraint honours taints") {
  for (const bool honour : {false, true}) {
    CAPTURE(honour);
    SpreadCluster s({runs("1", "a1")});
    for (const char* name : {"b1", "b2"}) {
      s.has(node(name)
                .gpus(8)
                .cpu("64")
                .labelled("host", name)
                .labelled("zone", "b")
                .tainted("maintenance"));
    }
    const k8s::Pod pod =
        asks().spread_over(over("zone", [&](auto& each) { each.node_taints_honor = honour; }));
    CHECK(s.allowed(pod) == (honour ? "a1 a2" : ""));
  }
}

TEST_CASE("pods are spread one by one, and the next waits until others follow") {
  SpreadCluster s;
  for (const char* name : {"b1", "b2"}) {
    s.has(their_pod(std::string("full ") + name).gpus(8).on(name));
  }
  for (int i = 0; i < 3; ++i) {
    s.has(
        our_pod("p" + std::to_string(i)).gpus(1).labelled("app", "web").spread_over(over("zone")));
  }
  const std::string waits =
      " waits: 0/5 nodes are available: 1 node(s) didn't match pod topology spread constraints "
      "(missing required label), 2 Insufficient nvidia.com/gpu, 2 node(s) didn't match pod "
      "topology "
      "spread constraints.";
  CHECK(s.decide() == Texts{"p0 → a1", "p1" + waits, "p2" + waits});
  SECTION("room comes in the other zone: one goes there, then one more to the first") {
    s.pod_gone(their_pod("full b1").on("b1"));
    Texts placed = s.decide();
    s.now += 1s;
    for (const std::string& each : s.decide()) placed.push_back(each);
    CHECK(placed == Texts{"p1 → b1", "p2 → a1"});
  }
  SECTION("a pod that counts in the other zone comes") {
    s.has(runs("other", "b1"));
    s.now += 1s;
    CHECK(s.decide() == Texts{"p1 → a1"});
  }
  SECTION("the other zone goes") {
    s.node_gone("b1");
    s.node_gone("b2");
    s.now += 1s;
    CHECK(s.decide() == Texts{"p1 → a1", "p2 → a1"});
  }
}

TEST_CASE("how a pod that would rather be spread scores its nodes") {
  struct Case {
    const char* name;
    k8s::Pod pod;
    const char* want;
  };
  const auto rather = [](const char* key, int max_skew = 1) {
    return over(key, [&](auto& each) {
      each.do_not_schedule = false;
      each.max_skew = max_skew;
    });
  };
  // Two in zone a, both on a1, and one in zone b: ln 4 = 1.39 a pod by zone, ln 7 = 1.95 by host.
  const std::vector<Case> cases = {
      {"by zone: 3 and 1", asks().spread_over(rather("zone")),
       "a1 33, a2 33, b1 100, b2 100, c0 0"},
      {"by zone, with a skew that does not matter: 5 and 3", asks().spread_over(rather("zone", 3)),
       "a1 60, a2 60, b1 100, b2 100, c0 0"},
      {"by host: 4, 0, 2, 0, 0", asks().spread_over(rather("host")),
       "a1 0, a2 100, b1 50, b2 100, c0 100"},
      {"by both, of which c0 lacks one, so ln 6 by host: 6, 3, 3, 1",
       asks().spread_over(rather("zone")).spread_over(rather("host")),
       "a1 16, a2 66, b1 66, b2 100, c0 0"},
      {"of pods that are nowhere",
       our_pod("p")
           .labelled("app", "db")
           .spread_over(over("zone",
                             [](auto& each) {
                               each.do_not_schedule = false;
                               each.label_selector = selector({{"app", "db"}});
                             })),
       "a1 100, a2 100, b1 100, b2 100, c0 0"},
      {"strictly alone", asks().spread_over(over("zone")), ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    SpreadCluster s({runs("w1", "a1"), runs("w2", "a1"), runs("w3", "b1")});
    CHECK(s.scores(each.pod) == each.want);
  }
}

TEST_CASE("pods that would rather be spread are, and none waits for it") {
  SpreadCluster s;
  for (int i = 0; i < 6; ++i) {
    s.has(our_pod("p" + std::to_string(i))
              .labelled("app", "web")
              .gpus(4)
              .spread_over(over("zone", [](auto& each) { each.do_not_schedule = false; })));
  }
  CHECK(s.decide() == Texts{"p0 → a1", "p1 → b1", "p2 → a1", "p3 → b1", "p4 → a2", "p5 → b2"});
}

// As with cloned machines: for the label hostname, each node counts as a domain of its own.
TEST_CASE("nodes of one name are spread over one by one") {
  SpreadCluster s;
  for (const char* name : {"x1", "x2"}) {
    s.has(node(name).gpus(8).labelled("kubernetes.io/hostname", "x"));
  }
  s.has(runs("w", "x1"));
  const k8s::Pod pod = asks().spread_over(
      over("kubernetes.io/hostname", [](auto& each) { each.do_not_schedule = false; }));
  CHECK(s.scores(pod) == "a1 100, a2 100, b1 100, b2 100, c0 100, x1 0, x2 100");
}
