// Required and preferred affinity and anti-affinity between pods, in all directions.
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include "tests/scheduler/engine/domains_cluster.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kNotNear =
    "UnschedulableAndUnresolvable InterPodAffinity: node(s) didn't match pod affinity rules";
constexpr const char* kNotAway =
    "Unschedulable InterPodAffinity: node(s) didn't match pod anti-affinity rules";
constexpr const char* kKeptOff =
    "Unschedulable InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules";

struct AffinityCluster : DomainsCluster {
  explicit AffinityCluster(const std::vector<k8s::Pod>& running = {})
      : DomainsCluster("InterPodAffinity", running) {}
};

constexpr const char* kOther = "other-profile";

// With a second profile, which has these arguments.
struct TwoProfiles : Scheduler {
  explicit TwoProfiles(std::string_view args) {
    std::vector<Profile> both;
    both.push_back(with_affinity(kOurs, ""));
    both.push_back(with_affinity(kOther, args));
    engine = Engine(std::move(both), {});
    synced();
    for (const auto& [name, zone] : DomainsCluster::kZones) {
      has(node(name).gpus(8).cpu("64").labelled("host", name).labelled("zone", zone));
    }
  }
  static Profile with_affinity(const char* name, std::string_view args) {
    Profile made = profile(nullptr, name);
    made.constraints.clear();
    made.constraints.emplace_back(shipped_constraint({"InterPodAffinity", args}), true, 20);
    return made;
  }
};

k8s::PodAffinityTerm like(const char* app, const char* key) {
  return pods_like({{"app", app}}, key);
}

}  // namespace

TEST_CASE("which nodes a pod's own terms leave it") {
  struct Case {
    const char* name;
    std::vector<k8s::Pod> running;
    k8s::Pod pod;
    const char* want;
    const char* why;  // of the first that is refused; empty: none is
  };
  k8s::PodAffinityTerm elsewhere = like("db", "zone");
  elsewhere.namespaces = {"other"};
  k8s::PodAffinityTerm nobody = like("db", "zone");
  nobody.label_selector.reset();
  k8s::PodAffinityTerm everybody = like("db", "zone");
  everybody.label_selector = k8s::LabelSelector{};
  const auto db_on_b1 = std::vector<k8s::Pod>{runs("db", "b1", "db")};
  const std::vector<Case> cases = {
      {"near a zone's pod", db_on_b1, asks().near(like("db", "zone")), "b1 b2", kNotNear},
      {"near a node's pod", db_on_b1, asks().near(like("db", "host")), "b1", kNotNear},
      {"near both", db_on_b1, asks().near(like("db", "host")).near(like("db", "zone")), "b1",
       kNotNear},
      {"all terms mean one pod",
       {runs("db", "b1", "db"), runs("cache", "b1", "cache")},
       asks().near(like("db", "zone")).near(like("cache", "zone")),
       "",
       kNotNear},
      {"near nobody, and not one of those", {}, asks().near(like("db", "zone")), "", kNotNear},
      {"the first of its kind", {}, asks("db").near(like("db", "zone")), "a1 a2 b1 b2", kNotNear},
      {"not the first any more", db_on_b1, asks("db").near(like("db", "zone")), "b1 b2", kNotNear},
      {"one where no domain is counts for nothing",
       {runs("db", "c0", "db")},
       asks("db").near(like("db", "zone")),
       "a1 a2 b1 b2",
       kNotNear},
      {"one of another namespace does not count", db_on_b1, asks().near(elsewhere), "", kNotNear},
      {"it does where it is named",
       {runs("db", "b1", "db").in_namespace("other")},
       asks().near(elsewhere),
       "b1 b2",
       kNotNear},
      {"a null selector", db_on_b1, asks().near(nobody), "", kNotNear},
      {"an empty one", db_on_b1, asks().near(everybody), "b1 b2", kNotNear},
      {"one that is being deleted counts",
       {runs("db", "b1", "db").terminating()},
       asks().near(like("db", "zone")),
       "b1 b2",
       kNotNear},
      {"one that has finished does not",
       {runs("db", "b1", "db").finished()},
       asks().near(like("db", "zone")),
       "",
       kNotNear},
      {"away from a zone's pod", db_on_b1, asks().away_from(like("db", "zone")), "a1 a2 c0",
       kNotAway},
      {"away from a node's pod", db_on_b1, asks().away_from(like("db", "host")), "a1 a2 b2 c0",
       kNotAway},
      {"away from nobody", {}, asks("db").away_from(like("db", "zone")), "a1 a2 b1 b2 c0", ""},
      {"near one and away from another",
       {runs("db", "b1", "db"), runs("web", "b2", "web")},
       asks().near(like("db", "zone")).away_from(like("web", "host")),
       "b1",
       kNotNear},
      {"a label that no node has: away", db_on_b1, asks().away_from(like("db", "rack")),
       "a1 a2 b1 b2 c0", ""},
      {"a label that no node has: near", db_on_b1, asks("db").near(like("db", "rack")), "",
       kNotNear},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    AffinityCluster s(each.running);
    CHECK(s.allowed(each.pod) == each.want);
    CHECK((s.refused.empty() ? "" : s.refused.begin()->second) == each.why);
  }
}

TEST_CASE("which pods a running pod's anti-affinity keeps off its domain") {
  struct Case {
    const char* name;
    k8s::PodAffinityTerm term;
    k8s::Pod pod;
    bool kept_off;
  };
  const auto like_web = [] { return like("web", "zone"); };
  k8s::PodAffinityTerm null_selector = like_web();
  null_selector.label_selector.reset();
  k8s::PodAffinityTerm everything = like_web();
  everything.label_selector = k8s::LabelSelector{};
  k8s::PodAffinityTerm in_ml = like_web();
  in_ml.namespaces = {"ml"};
  k8s::PodAffinityTerm of_gold = like_web();
  of_gold.namespace_selector = selector({{"tier", "gold"}});
  k8s::PodAffinityTerm of_all = like_web();
  of_all.namespace_selector = k8s::LabelSelector{};
  k8s::PodAffinityTerm in_ml_or_gold = of_gold;
  in_ml_or_gold.namespaces = {"ml"};
  const std::vector<Case> cases = {
      {"selected", like_web(), asks(), true},
      {"other labels", like_web(), asks("db"), false},
      {"another namespace", like_web(), asks().in_namespace("ml"), false},
      {"a null selector selects nothing", null_selector, asks(), false},
      {"an empty one everything", everything, our_pod("p"), true},
      {"a named namespace", in_ml, asks().in_namespace("ml"), true},
      {"not its own then", in_ml, asks(), false},
      {"a namespace by labels", of_gold, asks().in_namespace("gold-1"), true},
      {"one without them", of_gold, asks().in_namespace("ml"), false},
      {"not its own either", of_gold, asks(), false},
      {"every namespace, known or not", of_all, asks().in_namespace("unknown"), true},
      {"by name or by labels: by name", in_ml_or_gold, asks().in_namespace("ml"), true},
      {"by name or by labels: by labels", in_ml_or_gold, asks().in_namespace("gold-1"), true},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    AffinityCluster s;
    s.apply(event::NamespaceUpserted{name_space("gold-1", {{"tier", "gold"}})});
    s.apply(event::NamespaceUpserted{name_space("ml")});
    s.has(their_pod("keeper").on("b1").away_from(each.term));
    CHECK(s.allowed(each.pod) == (each.kept_off ? "a1 a2 c0" : "a1 a2 b1 b2 c0"));
    if (each.kept_off) CHECK(s.refused["b2"] == kKeptOff);
  }
}

TEST_CASE("what keeps pods off follows the pods and namespaces that come, change and go") {
  AffinityCluster s;
  const auto keeper = [&](const char* name, const char* on, const char* key) -> k8s::Pod {
    return runs(name, on, "web").away_from(like("web", key)).away_from(like("web", key));
  };
  s.has(keeper("a", "a1", "host"));
  s.has(keeper("b", "b1", "zone"));
  s.has(keeper("b", "b1", "zone"));
  CHECK(s.allowed(asks()) == "a2 c0");
  // Asked about where it runs, a pod does not stand in its own way; others of the kind do.
  k8s::Pod asked = keeper("b", "b1", "zone");
  asked.spec.node_name.clear();
  CHECK(s.allowed(asked) == "b1 b2 c0");
  s.has(keeper("d", "b2", "zone"));
  CHECK(s.allowed(asked) == "c0");
  s.pod_gone(keeper("d", "b2", "zone"));
  s.pod_gone(keeper("b", "b1", "zone"));
  CHECK(s.allowed(asks()) == "a2 b1 b2 c0");
  // Of a new pod under an old name the terms may be others.
  s.has(runs("a", "a1", "web"));
  CHECK(s.allowed(asks()) == "a1 a2 b1 b2 c0");

  k8s::PodAffinityTerm of_gold = like("web", "zone");
  of_gold.namespace_selector = selector({{"tier", "gold"}});
  s.has(their_pod("gold").on("a1").away_from(of_gold));
  CHECK(s.allowed(asks()) == "a1 a2 b1 b2 c0");
  s.apply(event::NamespaceUpserted{name_space("default", {{"tier", "gold"}})});
  CHECK(s.allowed(asks()) == "b1 b2 c0");
  s.apply(event::NamespaceDeleted{"default"});
  CHECK(s.allowed(asks()) == "a1 a2 b1 b2 c0");
}

TEST_CASE("what brings back a pod that waits for other pods") {
  using Step = std::function<void(AffinityCluster&)>;
  struct Case {
    const char* name;
    std::vector<k8s::Pod> running;
    k8s::Pod pod;
    Step step;
    const char* want;
  };
  const auto db = [](const char* on) -> k8s::Pod { return runs("db", on, "db"); };
  const auto relabelled = [&](const char* app) -> k8s::Pod { return runs("db", "a1", app); };
  const std::vector<Case> cases = {
      {"one that it wants to be near comes",
       {},
       asks().gpus(1).near(like("db", "zone")),
       [&](AffinityCluster& s) { s.has(db("b2")); },
       "p → b1"},
      {"one gets the label",
       {relabelled("other")},
       asks().gpus(1).near(like("db", "zone")),
       [&](AffinityCluster& s) { s.has(relabelled("db")); },
       "p → a2"},
      {"a namespace gets the label",
       {db("a1")},
       asks().gpus(1).near([] {
         k8s::PodAffinityTerm term = pods_like({{"app", "db"}}, "zone");
         term.namespace_selector = selector({{"tier", "gold"}});
         return term;
       }()),
       [](AffinityCluster& s) {
         s.apply(event::NamespaceUpserted{name_space("default", {{"tier", "gold"}})});
       },
       "p → a2"},
      {"those that it stays away from go",
       {runs("x", "a1", "db"), runs("y", "b1", "db"),
        runs("z", "c0", "db").away_from(like("web", "host"))},
       asks().gpus(1).away_from(like("db", "zone")),
       [](AffinityCluster& s) { s.pod_gone(runs("y", "b1", "db")); },
       "p → b1"},
      {"one of them loses the label",
       {relabelled("db"), runs("y", "b1", "db"),
        runs("z", "c0", "db").away_from(like("web", "host"))},
       asks().gpus(1).away_from(like("db", "zone")),
       [&](AffinityCluster& s) { s.has(relabelled("other")); },
       "p → a2"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    AffinityCluster s(each.running);
    s.has(each.pod);
    REQUIRE(s.decide().size() == 1);
    CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
    s.now += 1s;
    CHECK(s.decide().empty());
    each.step(s);
    s.now += 1s;
    CHECK(s.decide() == Texts{each.want});
  }
}

TEST_CASE("a pod that turns out to be on another node brings back those that want to be near it") {
  AffinityCluster s;
  const auto db = our_pod("db").labelled("app", "db").selects("host", "a1");
  s.has(db);
  CHECK(s.decide() == Texts{"db → a1"});
  s.has(asks().gpus(1).selects("zone", "b").near(like("db", "zone")));
  CHECK(s.decide().size() == 1);
  CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
  s.has(PodBuilder(db).on("b2"));  // somebody else was faster
  s.now += 1s;
  CHECK(s.decide() == Texts{"p → b1"});
}

TEST_CASE("a pod under a quota whose shape fits nowhere waits for nodes, whatever its rules say") {
  AffinityCluster s;
  s.has(gpu_quota("ml").of("ml").line("H100", 8));
  NodeBuilder z1 = node("z1").gpus(8).product(kH100).labelled("zone", "z");
  s.has(z1.cpu("64"));
  s.has(in("ml", "p", 1).cpu("100").near(like("db", "zone")));
  REQUIRE(s.decide().size() == 1);
  s.has(z1.cpu("128"));
  s.now += 1s;
  s.decide();
  s.has(runs("db", "z1", "db").in_namespace("ml"));
  s.now += 1s;
  CHECK(s.decide() == Texts{"p → z1"});
}

TEST_CASE("pods that wait for others are looked at some kinds at a time, a thousand a second") {
  const auto app = [](int i) { return "db" + std::to_string(i); };
  AffinityCluster s;
  for (int i = 0; i < 1'500; ++i) {
    s.has(our_pod("p" + std::to_string(i)).uid(app(i)).near(like(app(i).c_str(), "host")));
  }
  REQUIRE(s.decide().size() == 1'500);
  s.now += 1s;
  s.has(runs("x", "b1", app(7)));
  CHECK(s.decide() == Texts{"p7 → b1"});
  s.has(runs("y", "b2", app(8)));
  CHECK(s.decide().empty());
  CHECK((s.engine.next_wakeup() == s.now + 20ms));
  const Time changed = s.now;
  Texts told;
  while (told.empty() && s.now < changed + 5s) {
    s.now += 20ms;
    told = s.decide();
  }
  CHECK(told == Texts{"p8 → b2"});
  CHECK((s.now >= changed + 1'400ms && s.now <= changed + 1'600ms));
}

TEST_CASE("pods that must not meet are placed apart, and those that must together") {
  AffinityCluster s;
  for (int i = 0; i < 6; ++i) {
    s.has(our_pod("p" + std::to_string(i)).labelled("app", "web").away_from(like("web", "host")));
  }
  const std::string none =
      "0/5 nodes are available: 5 node(s) didn't match pod anti-affinity rules.";
  CHECK(s.decide() ==
        Texts{"p0 → a1", "p1 → a2", "p2 → b1", "p3 → b2", "p4 → c0", "p5 waits: " + none});
  for (int i = 0; i < 3; ++i) {
    s.has(our_pod("q" + std::to_string(i))
              .gpus(8)
              .labelled("app", "gang")
              .near(like("gang", "zone")));
  }
  CHECK(s.decide() ==
        Texts{"q0 → a1", "q1 → a2",
              "q2 waits: 0/5 nodes are available: 2 Insufficient nvidia.com/gpu, 3 node(s) didn't "
              "match pod affinity rules."});
}

TEST_CASE("how what pods prefer scores the nodes") {
  struct Case {
    const char* name;
    k8s::Pod pod;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"near a zone's pod", asks("x").rather_near(50, like("db", "zone")),
       "a1 0, a2 0, b1 100, b2 100, c0 0"},
      {"away from it", asks("x").rather_away_from(50, like("db", "zone")),
       "a1 100, a2 100, b1 0, b2 0, c0 100"},
      {"near one more than away from another: 10, 0, 20, 30, 0",
       asks("x")
           .rather_near(30, like("db", "zone"))
           .rather_away_from(10, like("db", "host"))
           .rather_near(10, like("cache", "host")),
       "a1 33, a2 0, b1 66, b2 100, c0 0"},
      {"nothing of the kind runs", asks("x").rather_near(50, like("nobody", "zone")),
       "a1 0, a2 0, b1 0, b2 0, c0 0"},
      {"what a running pod prefers, and what another requires: 100, 100, -50, -50, 1",
       asks("wanted"), "a1 100, a2 100, b1 0, b2 0, c0 34"},
      {"nobody prefers anything", asks("x"), ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const k8s::Pod draws = runs("cache", "a1", "cache").rather_near(100, like("wanted", "zone"));
    const k8s::Pod keeps_off = runs("db", "b1", "db").rather_away_from(50, like("wanted", "zone"));
    const k8s::Pod needs = runs("needs", "c0", "needs").near(like("wanted", "host"));
    AffinityCluster s({draws, keeps_off, needs});
    CHECK(s.scores(each.pod) == each.want);
  }
}

TEST_CASE("what a pod prefers follows the labels of namespaces") {
  AffinityCluster s({runs("db", "b1", "db").in_namespace("other")});
  k8s::PodAffinityTerm term = like("db", "zone");
  term.namespace_selector = selector({{"tier", "gold"}});
  const auto prefers = [&](const char* name) {
    return our_pod(name).labelled("app", "web").gpus(1).rather_near(100, term);
  };
  s.has(prefers("before"));
  CHECK(s.decide() == Texts{"before → a1"});
  s.apply(event::NamespaceUpserted{name_space("other", {{"tier", "gold"}})});
  s.has(prefers("after"));
  CHECK(s.decide() == Texts{"after → b2"});
}

TEST_CASE("what others prefer may be left out of account for pods that prefer nothing") {
  const auto shipped = [](bool ignored) {
    return plugins::make_inter_pod_affinity(
               plugins::InterPodAffinityArgs{.ignore_preferred_terms_of_existing_pods = ignored})
        .constraint;
  };
  const k8s::Pod runs_here = runs("cache", "a1", "cache").rather_near(9, like("web", "zone"));
  for (const bool ignored : {true, false}) {
    const auto made = shipped(ignored);
    CHECK_FALSE(made->prefers(asks()));
    made->apply(BoundPodUpserted{runs_here});
    CHECK(made->prefers(asks()) == !ignored);
    CHECK(made->prefers(asks().rather_away_from(1, like("x", "zone"))));
    made->apply(BoundPodGone{runs_here.metadata.uid});
    CHECK_FALSE(made->prefers(asks()));
  }
}

TEST_CASE("profiles with other arguments count terms of their own") {
  SECTION("which of them there are") {
    TwoProfiles s("hardPodAffinityWeight: 0");
    // Only where it has a weight, required affinity affects other pods.
    s.has(runs("needs", "b2", "x").near(like("nobody", "zone")));
    s.has(runs("keeps-off-host", "b1", "x").away_from(like("db", "host")));
    s.has(runs("keeps-off-zone", "a2", "x").away_from(like("web", "zone")));
    const PodBuilder ours = our_pod("db").labelled("app", "db").gpus(1);
    s.has(ours);
    REQUIRE(s.decide().size() == 1);
    s.pod_gone(ours);
    s.has(our_pod("web").labelled("app", "web").gpus(1).served_by(kOther));
    CHECK(s.decide() == Texts{"web → c0"});
  }
  SECTION("what they weigh") {
    TwoProfiles s("hardPodAffinityWeight: 100");
    s.has(runs("needs", "a1", "x").near(like("web", "zone")));
    s.has(runs("likes", "b1", "x").rather_near(50, like("web", "zone")));
    const PodBuilder ours = our_pod("ours").labelled("app", "web").gpus(1);
    s.has(ours);
    CHECK(s.decide() == Texts{"ours → b2"});
    s.pod_gone(ours);
    s.has(our_pod("theirs").labelled("app", "web").gpus(1).served_by(kOther));
    CHECK(s.decide() == Texts{"theirs → a2"});
  }
}
