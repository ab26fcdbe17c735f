// Topology spread constraints that a profile gives to pods without their own, by the Services that
// select them and the controllers that own them.
#include "k8s-client/yaml/value.h"
#include "tests/scheduler/engine/domains_cluster.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

using Labels = k8s::StringMap;

constexpr const char* kSystem = "defaultingType: System";
constexpr const char* kByZone =
    "{defaultingType: List, defaultConstraints: "
    "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}";

// The zones and hosts of its nodes are named by the labels that the system's constraints ask for,
// too.
struct DefaultSpreadCluster : DomainsCluster {
  explicit DefaultSpreadCluster(const char* args, const std::vector<k8s::Pod>& running = {})
      : DomainsCluster("PodTopologySpread") {
    const auto yaml = k8s::yaml::parse(args, "test");
    REQUIRE(yaml);
    k8s::yaml::ObjectReader reader(yaml->front(), "test");
    std::vector<Profile> with_it = profiles(&told_bound);
    with_it[0].constraints.clear();
    with_it[0].constraints.emplace_back(
        find_plugin(plugins::registry(), "PodTopologySpread")->make(reader).constraint, true, 20);
    REQUIRE_FALSE(reader.finish());
    engine = Engine(std::move(with_it), {});
    for (const auto& [name, zone] : kZones) {
      NodeBuilder made = node(name).gpus(8).cpu("64").labelled("kubernetes.io/hostname", name);
      if (*zone != '\0') {
        made.labelled("zone", zone).labelled("topology.kubernetes.io/zone", zone);
      }
      has(made);
    }
    for (const k8s::Pod& pod : running) has(pod);
    synced();
  }
  template <typename Object>
  void there_is(const Object& object) {
    apply(event::Upserted<Object>{object});
  }
};

template <typename Object>
Object object_named(const char* name) {
  Object made;
  made.metadata.name = name;
  made.metadata.namespace_ = "default";
  return made;
}
k8s::Service service(Labels selects, const char* name = "s") {
  auto made = object_named<k8s::Service>(name);
  made.selector = std::move(selects);
  return made;
}
k8s::ReplicationController controller(Labels selects) {
  auto made = object_named<k8s::ReplicationController>("owner");
  made.selector = std::move(selects);
  return made;
}
template <typename Object>
Object set(k8s::LabelSelector selects) {
  auto made = object_named<Object>("owner");
  made.selector = std::move(selects);
  return made;
}
k8s::ReplicaSet replica_set(Labels selects) {
  return set<k8s::ReplicaSet>({.match_labels = std::move(selects), .match_expressions = {}});
}

k8s::Pod owned_by(const char* api_version, const char* kind, bool controls = true) {
  k8s::Pod pod = our_pod("p").labelled("app", "web");
  pod.metadata.owner_references = {{.api_version = api_version,
                                    .kind = kind,
                                    .name = "owner",
                                    .uid = "u",
                                    .controller = controls}};
  return pod;
}
k8s::Pod of_replica_set() { return owned_by("apps/v1", "ReplicaSet"); }

}  // namespace

TEST_CASE("the pods that a pod is spread with by default") {
  struct Case {
    const char* name;
    k8s::Pod pod;
    std::vector<Event> there;
    const char* want;
  };
  const auto up = []<typename Object>(Object object) {
    return Event{event::Upserted<Object>{std::move(object)}};
  };
  const auto in_other = []<typename Object>(Object object) {
    object.metadata.namespace_ = "other";
    return Event{event::Upserted<Object>{std::move(object)}};
  };
  const k8s::LabelSelector by_expression{
      .match_labels = {},
      .match_expressions = {
          {.key = "app", .op = k8s::SelectorOperator::kIn, .values = {"web", "x"}}}};
  const k8s::LabelSelector invalid{
      .match_labels = {{"app", "web"}},
      .match_expressions = {{.key = "app", .op = k8s::SelectorOperator::kIn, .values = {}}}};
  const k8s::Pod plain = our_pod("p").labelled("app", "web");
  const char* const spread = "b1 b2";
  const char* const anywhere = "a1 a2 b1 b2 c0";
  const std::vector<Case> cases = {
      {"there is none", of_replica_set(), {}, anywhere},
      {"of its ReplicaSet", of_replica_set(), {up(replica_set({{"app", "web"}}))}, spread},
      {"by an expression", of_replica_set(), {up(set<k8s::ReplicaSet>(by_expression))}, spread},
      {"one that upstream cannot read",
       of_replica_set(),
       {up(set<k8s::ReplicaSet>(invalid))},
       anywhere},
      {"an empty one", of_replica_set(), {up(replica_set({}))}, anywhere},
      {"none", of_replica_set(), {up(object_named<k8s::ReplicaSet>("owner"))}, anywhere},
      {"another's ReplicaSet", plain, {up(replica_set({{"app", "web"}}))}, anywhere},
      {"in another namespace",
       of_replica_set(),
       {in_other(replica_set({{"app", "web"}}))},
       anywhere},
      {"an owner that is not in charge",
       owned_by("apps/v1", "ReplicaSet", false),
       {up(replica_set({{"app", "web"}}))},
       anywhere},
      {"of another version",
       owned_by("apps/v1beta2", "ReplicaSet"),
       {up(replica_set({{"app", "web"}}))},
       anywhere},
      {"of another kind",
       owned_by("batch/v1", "Job"),
       {up(replica_set({{"app", "web"}}))},
       anywhere},
      {"of its StatefulSet",
       owned_by("apps/v1", "StatefulSet"),
       {up(set<k8s::StatefulSet>(by_expression))},
       spread},
      {"of its ReplicationController",
       owned_by("v1", "ReplicationController"),
       {up(controller({{"app", "web"}}))},
       spread},
      {"of a Service", plain, {up(service({{"app", "web"}}))}, spread},
      {"that does not select it", plain, {up(service({{"app", "db"}}))}, anywhere},
      {"in another namespace", plain, {in_other(service({{"app", "web"}}))}, anywhere},
      {"that selects nothing", plain, {up(service({}))}, anywhere},
      // Nobody has both.
      {"of a Service and its owner",
       of_replica_set(),
       {up(service({{"app", "web"}})), up(replica_set({{"tier", "front"}}))},
       "a1 a2 b1 b2"},
      {"of a Service and an owner that contradict each other",
       of_replica_set(),
       {up(service({{"app", "web"}})), up(replica_set({{"app", "db"}}))},
       "a1 a2 b1 b2"},
      {"a ReplicationController's label comes before a Service's",
       owned_by("v1", "ReplicationController"),
       {up(service({{"app", "web"}})), up(controller({{"app", "db"}}))},
       "a1 a2"},
      {"of no Service any more",
       plain,
       {up(service({{"app", "web"}})), event::Deleted<k8s::Service>{"s", "default"}},
       anywhere},
      {"a Service that selects others by now",
       plain,
       {up(service({{"app", "web"}})), up(service({{"app", "db"}}))},
       anywhere},
      {"of one of two that are alike",
       plain,
       {up(service({{"app", "web"}})), up(service({{"app", "web"}}, "t")),
        event::Deleted<k8s::Service>{"s", "default"}},
       spread},
      {"of two Services",
       our_pod("p").labelled("app", "web").labelled("tier", "front"),
       {up(service({{"app", "web"}})), up(service({{"tier", "front"}}, "t"))},
       "a1 a2 b1 b2"},
      {"of no ReplicaSet any more",
       of_replica_set(),
       {up(replica_set({{"app", "web"}})), event::Deleted<k8s::ReplicaSet>{"owner", "default"}},
       anywhere},
      {"of no StatefulSet any more",
       owned_by("apps/v1", "StatefulSet"),
       {up(set<k8s::StatefulSet>(by_expression)),
        event::Deleted<k8s::StatefulSet>{"owner", "default"}},
       anywhere},
      {"of no ReplicationController any more",
       owned_by("v1", "ReplicationController"),
       {up(controller({{"app", "web"}})),
        event::Deleted<k8s::ReplicationController>{"owner", "default"}},
       anywhere},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    DefaultSpreadCluster s(kByZone,
                           {runs("1", "a1"), runs("2", "b1", "db"), runs("3", "b2", "db")});
    if (std::string(each.want) == spread) REQUIRE(s.allowed(each.pod) == anywhere);
    for (const Event& event : each.there) s.apply(event);
    CHECK(s.allowed(each.pod) == each.want);
  }
}

TEST_CASE("a pod with constraints of its own has no default ones") {
  k8s::TopologySpreadConstraint own;
  own.topology_key = "kubernetes.io/hostname";
  own.do_not_schedule = false;
  own.label_selector = selector({{"app", "web"}});
  DefaultSpreadCluster s(kByZone, {runs("1", "a1")});
  s.there_is(service({{"app", "web"}}));
  const PodBuilder asks = our_pod("p").labelled("app", "web");
  CHECK(s.allowed(asks) == "b1 b2");
  CHECK(s.allowed(PodBuilder(asks).spread_over(own)) == "a1 a2 b1 b2 c0");
}

TEST_CASE("by the system's constraints hosts and zones with fewer of the pods are better") {
  DefaultSpreadCluster s(kSystem, {runs("1", "a1"), runs("2", "a1"), runs("3", "b1"),
                                   runs("4", "c0"), runs("5", "c0"), runs("6", "c0")});
  CHECK(s.scores(of_replica_set()).empty());
  s.there_is(replica_set({{"app", "web"}}));
  // Three domains of zones, one of them of those without; five hosts. A node that has no zone has
  // what is on it counted, and the skew of zones that does not matter is not added:
  // a1 2·ln 7 + 2·ln 5 + 6, a2 2·ln 5 + 6, b1 ln 7 + ln 5 + 6, b2 ln 5 + 6, c0 3·ln 7 + 2.
  CHECK(s.scores(of_replica_set()) == "a1 61, a2 92, b1 84, b2 100, c0 100");
}

TEST_CASE("by a list nodes that lack a label are left out") {
  DefaultSpreadCluster s(
      "{defaultingType: List, defaultConstraints: "
      "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
      {runs("1", "a1")});
  s.there_is(replica_set({{"app", "web"}}));
  CHECK(s.scores(of_replica_set()) == "a1 0, a2 0, b1 100, b2 100, c0 0");
}

TEST_CASE("a pod that waits by default constraints is looked at again when its Service changes") {
  DefaultSpreadCluster s(kByZone, {runs("1", "a1")});
  s.there_is(service({{"app", "web"}}));
  s.has(node("b1").gpus(8).cpu("64").labelled("zone", "b").cordoned());
  s.has(node("b2").gpus(8).cpu("64").labelled("zone", "b").cordoned());
  s.has(our_pod("p").labelled("app", "web"));
  CHECK(s.decide() ==
        std::vector<std::string>{"p waits: 0/5 nodes are available: 1 node(s) didn't match pod "
                                 "topology spread constraints (missing required label), 2 node(s) "
                                 "didn't match pod topology spread constraints, 2 node(s) were "
                                 "unschedulable."});
  SECTION("another way") { s.there_is(service({{"app", "web"}, {"tier", "front"}})); }
  SECTION("or goes") { s.apply(event::Deleted<k8s::Service>{"s", "default"}); }
  s.now += 2s;
  CHECK(s.decide() == std::vector<std::string>{"p → a2"});
}

TEST_CASE("pods that differ in nothing but their owner wait apart") {
  DefaultSpreadCluster s(kByZone, {runs("1", "a1"), runs("2", "b1")});
  s.there_is(replica_set({{"app", "web"}}));
  auto of_another =
      set<k8s::StatefulSet>({.match_labels = {{"app", "other"}}, .match_expressions = {}});
  s.there_is(of_another);
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    s.has(node(name).gpus(8).cpu("64").labelled("zone", *name == 'a' ? "a" : "b").cordoned());
  }
  k8s::Pod first = of_replica_set();
  k8s::Pod second = owned_by("apps/v1", "StatefulSet");
  second.metadata.name = "q";
  second.metadata.uid = "uid of q";
  s.has(first);
  s.has(second);
  CHECK(s.decide().size() == 2);
  // Of the second it is the StatefulSet that kept it away from the node without a zone.
  s.apply(event::Deleted<k8s::StatefulSet>{"owner", "default"});
  s.now += 2s;
  CHECK(s.decide() == std::vector<std::string>{"q → c0"});
}

TEST_CASE("what selects pods is read where a profile has default constraints alone") {
  for (const auto& [args, want] :
       {std::pair{"defaultingType: List", ChangeMask{0}}, std::pair{kSystem, kSelectorChanged},
        std::pair{kByZone, kSelectorChanged}}) {
    CAPTURE(args);
    const auto yaml = k8s::yaml::parse(args, "test");
    REQUIRE(yaml);
    k8s::yaml::ObjectReader reader(yaml->front(), "test");
    std::vector<Profile> with_it(1);
    with_it[0].constraints.emplace_back(
        find_plugin(plugins::registry(), "PodTopologySpread")->make(reader).constraint);
    CHECK(changes_read(with_it) == want);
    const auto& made = *with_it[0].constraints[0].plugin;
    CHECK(made.prefers(of_replica_set()) == (args == kSystem));
    CHECK(made.is_ruled(of_replica_set()) == (args == kByZone));
  }
}
