// The constraints about volumes: which pod waits for what, and where its volumes can be used.
#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::kGi;
using tests::kHost;
using tests::kZone;
using tests::label;
using tests::make_plugin;
using tests::Names;
using tests::node;
using tests::pod;
using tests::Reason;
using tests::storage_class;
using tests::term;
using tests::volume;
using tests::wanted;
using tests::with;
using State = Readiness::State;

namespace {

constexpr const char* kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
constexpr const char* kNoVolume = "node(s) didn't find available persistent volumes to bind";
constexpr const char* kNoRoom = "node(s) did not have enough free storage";

// A free one of the class "local".
k8s::PersistentVolume free_volume(const char* name, std::int64_t gi, const char* host = nullptr) {
  k8s::PersistentVolume made = volume(name);
  made.metadata.uid = std::string("uid of ") + name;
  made.metadata.resource_version = "7";
  made.storage_class = "local";
  made.phase = "Available";
  made.capacity_bytes = gi * kGi;
  if (host != nullptr) made.node_affinity = k8s::NodeSelector{{term({label(kHost).in({host})})}};
  return made;
}

k8s::PersistentVolumeClaim bound_claim(k8s::PersistentVolumeClaim it, const char* to) {
  it.volume_name = to;
  it.phase = "Bound";
  it.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  it.metadata.resource_version = "9";
  return it;
}

}  // namespace

TEST_CASE("VolumeBinding: which claims a pod has to wait for") {
  struct Case {
    const char* name;
    std::vector<k8s::PersistentVolumeClaim> claims;
    k8s::Pod given;
    Reason want;
    Names awaits{"default/c"};
  };
  const auto done = claim("c", "v");
  const auto mounting = [] { return pod("a").mounts_claim("c"); };
  k8s::Volume scratch;
  scratch.name = "scratch";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  k8s::PersistentVolumeClaim made_for_it = claim("a-scratch", "v");
  made_for_it.metadata.owner_references = {{.api_version = "v1",
                                            .kind = "Pod",
                                            .name = "a",
                                            .uid = "uid-default-a",
                                            .controller = true}};
  const Reason unbound = "pod has unbound immediate PersistentVolumeClaims";
  const std::vector<Case> cases = {
      {"no volumes", {}, pod("a"), std::nullopt},
      {"bound", {done}, mounting(), std::nullopt},
      {"missing", {}, mounting(), "persistentvolumeclaim \"c\" not found"},
      {"missing in its namespace",
       {done},
       mounting().in_namespace("ml"),
       "persistentvolumeclaim \"c\" not found",
       {"ml/c"}},
      {"unbound, no class", {claim("c", "")}, mounting(), unbound},
      {"unbound, of a class that nobody knows",
       {wanted("c", "unknown")},
       mounting(),
       unbound,
       {"default/c", "unknown"}},
      {"unbound, bound before pods are looked at",
       {wanted("c", "now")},
       mounting(),
       unbound,
       {"default/c", "now"}},
      {"unbound, of a class that does not say when",
       {wanted("c", "silent")},
       mounting(),
       unbound,
       {"default/c", "silent"}},
      {"unbound, waits for the pod", {wanted("c", "wait")}, mounting(), std::nullopt},
      {"waits for the pod, a volume chosen, not bound yet",
       {with(wanted("c", "wait"), [](auto& it) { it.volume_name = "v"; })},
       mounting(),
       unbound,
       {"default/c", "wait"}},
      {"lost",
       {with(done, [](auto& it) { it.phase = "Lost"; })},
       mounting(),
       "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\""},
      {"being deleted",
       {with(done, [](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       mounting(),
       "persistentvolumeclaim \"c\" is being deleted"},
      {"the second of two",
       {wanted("c", "now")},
       mounting().mounts_claim("d"),
       "persistentvolumeclaim \"d\" not found",
       {"default/d"}},
      {"an ephemeral volume without its claim",
       {},
       pod("a").mounts(scratch),
       "waiting for ephemeral volume controller to create the persistentvolumeclaim "
       "\"a-scratch\"",
       {"default/a-scratch"}},
      {"an ephemeral volume", {made_for_it}, pod("a").mounts(scratch), std::nullopt},
      {"an ephemeral volume whose claim the pod owns, but does not control",
       {with(made_for_it, [](auto& it) { it.metadata.owner_references[0].controller = false; })},
       pod("a").mounts(scratch),
       "PVC default/a-scratch was not created for pod default/a (pod is not owner)",
       {"default/a-scratch"}},
      {"an ephemeral volume whose claim was made for another pod of its name",
       {claim("a-scratch", "v")},
       pod("a").mounts(scratch),
       "PVC default/a-scratch was not created for pod default/a (pod is not owner)",
       {"default/a-scratch"}},
      {"one whose claim was made for another pod, and is being deleted",
       {with(claim("a-scratch", "v"), [](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       pod("a").mounts(scratch),
       "persistentvolumeclaim \"a-scratch\" is being deleted",
       {"default/a-scratch"}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Asked asked("VolumeBinding");
    asked.has(storage_class("wait", "p"));
    asked.has(storage_class("now", "p", "Immediate"));
    asked.has(with(storage_class("silent", "p"), [](auto& it) { it.binding_mode.reset(); }));
    for (const auto& it : each.claims) asked.has(it);
    CHECK(asked.refuses(each.given) == each.want);
    if (each.want) CHECK(asked.awaits(each.given) == each.awaits);
  }
}

TEST_CASE("VolumeBinding: a bound volume is used where its node affinity lets it") {
  Asked asked("VolumeBinding");
  asked.on("n");
  asked.on("m");
  const k8s::Pod given = pod("a").mounts_claim("c").mounts_claim("d");
  asked.has(claim("c", "v"));
  asked.has(claim("d", "w"));
  const Names missing = {
      "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"};
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", missing}, {"n", missing}});
  asked.has(free_volume("v", 1, "n"));
  asked.has(free_volume("w", 1));
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", {kNotItsNode}}});
  CHECK(asked.codes[kNotItsNode] == Code::kUnresolvable);
  CHECK_FALSE(asked.constraint->preparation_for(given, asked.on("n")));
  asked.has(free_volume("w", 1, "n"));
  // Once, however many volumes say so.
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", {kNotItsNode}}});
  asked.lacks<k8s::PersistentVolume>("w");
  CHECK(asked.excluded(given) ==
        std::map<std::string, Names>{{"m", {kNotItsNode, missing[0]}}, {"n", missing}});
}

TEST_CASE("VolumeBinding: a claim takes the smallest free volume that fits") {
  struct Case {
    const char* name;
    std::vector<k8s::PersistentVolume> volumes;
    const char* want;  // null: it finds none
  };
  const auto base = wanted("c", "local", 2);
  const auto large = [](auto change) { return with(free_volume("v", 3), change); };
  const k8s::ClaimReference its{"default", "c", "uid of c"};
  const k8s::ClaimReference anothers{"default", "c", "another"};
  const std::vector<Case> cases = {
      {"none", {}, nullptr},
      {"the smaller",
       {free_volume("big", 4), free_volume("fits", 2), free_volume("small", 1)},
       "fits"},
      {"of two alike the first by name", {free_volume("b", 2), free_volume("a", 2)}, "a"},
      {"one of its host", {free_volume("big", 4), free_volume("h", 3, "n")}, "h"},
      {"a smaller one of all hosts", {free_volume("all", 3), free_volume("h", 4, "n")}, "all"},
      {"one of another host", {free_volume("h", 3, "m")}, nullptr},
      {"of another class", {large([](auto& it) { it.storage_class = "other"; })}, nullptr},
      {"not available", {large([](auto& it) { it.phase = "Released"; })}, nullptr},
      {"being deleted",
       {large([](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       nullptr},
      {"of another mode", {large([](auto& it) { it.volume_mode = "Block"; })}, nullptr},
      {"of other attributes", {large([](auto& it) { it.volume_attributes_class = "x"; })}, nullptr},
      {"of other access modes",
       {large([](auto& it) { it.access_modes = {"ReadOnlyMany"}; })},
       nullptr},
      {"for another claim", {large([&](auto& it) { it.claim_ref = anothers; })}, nullptr},
      {"reserved for it, before smaller ones",
       {free_volume("small", 2), large([&](auto& it) { it.claim_ref = its; })},
       "v"},
      {"reserved for it by hand",
       {large([&](auto& it) {
         it.claim_ref = {"default", "c", ""};
       })},
       "v"},
      {"reserved for it and too small, so that it takes another",
       {with(free_volume("v", 1), [&](auto& it) { it.claim_ref = its; }), free_volume("w", 4)},
       "w"},
      {"reserved for it and of another host",
       {with(free_volume("v", 3, "m"), [&](auto& it) { it.claim_ref = its; }), free_volume("w", 4)},
       nullptr},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Asked asked("VolumeBinding");
    asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
    asked.has(base);
    for (const auto& it : each.volumes) asked.has(it);
    const NodeFacts& n = asked.on("n");
    const k8s::Pod given = pod("a").mounts_claim("c");
    if (each.want == nullptr) {
      CHECK(asked.excluded(given) == std::map<std::string, Names>{{"n", {kNoVolume}}});
      CHECK(asked.codes[kNoVolume] == Code::kUnresolvable);
      continue;
    }
    CHECK(asked.excluded(given).empty());
    const auto wants = asked.constraint->preparation_for(given, n);
    REQUIRE(wants);
    CHECK(wants->patience == std::chrono::seconds(600));
    const bool is_done = std::any_of(each.volumes.begin(), each.volumes.end(), [&](auto& it) {
      return it.metadata.name == each.want && it.claim_ref == its;
    });
    if (is_done) {
      CHECK(wants->writes.empty());
      continue;
    }
    REQUIRE(wants->writes.size() == 1);
    const auto& write = std::get<ReserveVolume>(wants->writes[0]);
    CHECK(write.volume == SeenObject{"", each.want, std::string("uid of ") + each.want, "7"});
    CHECK(write.claim == SeenObject{"default", "c", "uid of c", "1"});
    CHECK(write.named_claim == (std::string_view(each.name) == "reserved for it by hand"));
  }
}

TEST_CASE("VolumeBinding: which volumes suit a claim, whatever hosts they are on") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(wanted("c", "local"));
  const k8s::Pod given = pod("a").mounts_claim("c");
  asked.on("m");
  asked.on("n");
  const auto left = [&](const k8s::PersistentVolume& only) {
    asked.has(only);
    Names names;
    const auto out = asked.excluded(given);
    for (const auto& [name, facts] : asked.nodes) {
      if (!out.contains(name)) names.push_back(name);
    }
    asked.lacks<k8s::PersistentVolume>(only.metadata.name);
    CHECK(asked.excluded(given).size() == 2);
    return names;
  };
  const auto of = [](std::vector<k8s::NodeSelectorTerm> nodes) {
    return with(free_volume("v", 2),
                [&](auto& it) { it.node_affinity = k8s::NodeSelector{std::move(nodes)}; });
  };
  CHECK(left(free_volume("v", 2)) == Names{"m", "n"});
  CHECK(left(free_volume("v", 2, "n")) == Names{"n"});
  CHECK(left(of({term({label(kHost).in({"n", "m"})})})) == Names{"m", "n"});
  CHECK(left(of({term({label(kHost).in({"n"})}), term({label(kHost).in({"m"})})})) ==
        Names{"m", "n"});
  CHECK(left(of({term({label(kHost).not_in({"m"})})})) == Names{"n"});
  CHECK(left(of({term({label(kZone).does_not_exist(), label(kHost).in({"m"})})})) == Names{"m"});
  const auto changed = [](auto change) { return with(free_volume("v", 2), change); };
  CHECK(left(changed([](auto& it) { it.capacity_bytes.reset(); })).empty());
  CHECK(left(changed([](auto& it) {
          it.access_modes.insert(it.access_modes.begin(), "ReadOnlyMany");
        })).size() == 2);

  // Who does not say how much is content with a volume that does not either.
  asked.has(with(wanted("c", "local"), [](auto& it) { it.requested_bytes.reset(); }));
  CHECK(left(changed([](auto& it) { it.capacity_bytes.reset(); })).size() == 2);
  asked.has(with(wanted("c", "local"), [](auto& it) { it.requested_bytes = 1; }));
  CHECK(left(changed([](auto& it) { it.capacity_bytes.reset(); })).empty());

  // A node that says of no host's name has the volumes of all hosts.
  asked.has(wanted("c", "local"));
  asked.nodes["m"].labels = {};
  CHECK(left(free_volume("v", 2)) == Names{"m", "n"});
  CHECK(left(free_volume("v", 2, "n")) == Names{"n"});
}

TEST_CASE("VolumeBinding: a volume that is reserved is for its claim, as long as it is") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(storage_class("other", "kubernetes.io/no-provisioner"));
  asked.has(wanted("c", "local"));
  asked.has(wanted("d", "local"));
  const NodeFacts n = asked.on("n");
  const auto reserved = [](const char* for_claim, const char* of_class = "local") {
    return with(free_volume("v", 3), [&](auto& it) {
      it.storage_class = of_class;
      if (for_claim != nullptr) it.claim_ref = {"default", for_claim, ""};
    });
  };
  const auto finds = [&](const char* it) {
    return asked.excluded(pod("a").mounts_claim(it)).empty();
  };
  asked.has(reserved("c"));
  CHECK(finds("c"));
  CHECK_FALSE(finds("d"));
  asked.has(reserved("d"));
  CHECK_FALSE(finds("c"));
  CHECK(finds("d"));
  asked.has(reserved(nullptr));
  CHECK(finds("c"));
  CHECK(finds("d"));
  // Of another class it is none for the claim, which may take another one.
  asked.has(reserved("c", "other"));
  CHECK_FALSE(finds("c"));
  asked.has(free_volume("w", 2));
  CHECK(finds("c"));
  asked.lacks<k8s::PersistentVolume>("v");

  // What a plan counts on is for the claim of that name in its namespace alone.
  const auto wants = asked.constraint->preparation_for(pod("a").mounts_claim("c"), n);
  REQUIRE(wants);
  asked.constraint->apply(WriteAssumed{wants->writes.at(0)});
  CHECK(finds("c"));
  CHECK_FALSE(finds("d"));
  asked.has(with(wanted("c", "local"), [](auto& it) { it.metadata.namespace_ = "ml"; }));
  CHECK_FALSE(asked.excluded(pod("a").in_namespace("ml").mounts_claim("c")).empty());
}

TEST_CASE("VolumeBinding: claims do not take one volume twice, and the smaller ones choose first") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(wanted("big", "local", 3));
  asked.has(wanted("small", "local", 1));
  asked.has(with(wanted("labelled", "local", 1),
                 [](auto& it) { it.selector.emplace().match_labels.set("disk", "fast"); }));
  const k8s::Pod two = pod("a").mounts_claim("big").mounts_claim("small").mounts_claim("big");
  const NodeFacts n = asked.on("n");
  asked.has(free_volume("v3", 3));
  CHECK(asked.excluded(two).size() == 1);
  asked.has(free_volume("v4", 4));
  CHECK(asked.excluded(two).empty());
  const auto wants = asked.constraint->preparation_for(two, n);
  REQUIRE(wants);
  REQUIRE(wants->writes.size() == 2);
  CHECK(std::get<ReserveVolume>(wants->writes[0]).claim.name == "small");
  CHECK(std::get<ReserveVolume>(wants->writes[0]).volume.name == "v3");
  CHECK(std::get<ReserveVolume>(wants->writes[1]).volume.name == "v4");
  // What a plan counts on is for no other pod, on all nodes, until the plan is over.
  const k8s::Pod other = pod("b").mounts_claim("small");
  for (const ObjectWrite& write : wants->writes) asked.constraint->apply(WriteAssumed{write});
  CHECK(asked.excluded(other).empty());  // its claim has one, and it is written once
  CHECK(asked.constraint->preparation_for(other, n)->writes.empty());
  asked.has(wanted("third", "local", 1));
  const k8s::Pod third = pod("c").mounts_claim("third");
  CHECK(asked.excluded(third).size() == 1);
  for (const ObjectWrite& write : wants->writes) asked.constraint->apply(WriteOver{write});
  CHECK(asked.excluded(third).empty());

  const k8s::Pod picky = pod("d").mounts_claim("labelled");
  CHECK(asked.excluded(picky).size() == 1);
  asked.has(with(free_volume("fast", 9), [](auto& it) { it.metadata.labels.set("disk", "fast"); }));
  CHECK(asked.excluded(picky).empty());
  asked.lacks<k8s::PersistentVolume>("fast");
  CHECK(asked.excluded(picky).size() == 1);
}

TEST_CASE("VolumeBinding: a volume is provisioned where the class can, and where there is room") {
  Asked asked("VolumeBinding");
  asked.on("a", {{kZone, "z"}});
  asked.on("b", {{kZone, "y"}});
  auto zoned = storage_class("zoned", "p");
  zoned.allowed_topologies = k8s::NodeSelector{{term({label(kZone).in({"z"})})}};
  auto elsewhere = storage_class("elsewhere", "p");
  elsewhere.allowed_topologies = k8s::NodeSelector{{term({label(kZone).in({"y"})})}};
  asked.has(zoned);
  asked.has(elsewhere);
  asked.has(storage_class("any", "p"));
  asked.has(storage_class("none", ""));
  for (const char* of : {"zoned", "elsewhere", "any", "none"}) asked.has(wanted(of, of, 5));
  const auto out = [&](std::initializer_list<const char*> claims) {
    auto given = pod("a");
    for (const char* each : claims) given.mounts_claim(each);
    return asked.excluded(given);
  };
  using Out = std::map<std::string, Names>;
  CHECK(out({"any"}).empty());
  CHECK(out({"zoned"}) == Out{{"b", {kNoVolume}}});
  CHECK(out({"zoned", "any"}) == Out{{"b", {kNoVolume}}});
  CHECK(out({"zoned", "elsewhere"}) == Out{{"a", {kNoVolume}}, {"b", {kNoVolume}}});
  CHECK(out({"none"}) == Out{{"a", {kNoVolume}}, {"b", {kNoVolume}}});

  k8s::CsiDriver driver;
  driver.metadata.name = "p";
  asked.has(driver);
  CHECK(out({"any"}).empty());  // it does not say where it has room
  driver.storage_capacity = true;
  asked.has(driver);
  CHECK(out({"any"}) == Out{{"a", {kNoRoom}}, {"b", {kNoRoom}}});
  CHECK(out({"zoned"}) == Out{{"a", {kNoRoom}}, {"b", {kNoVolume}}});
  k8s::CsiStorageCapacity room;
  room.metadata.name = "r";
  room.metadata.namespace_ = "csi";
  room.storage_class = "any";
  room.capacity_bytes = 9 * kGi;
  asked.has(room);  // of no node
  CHECK(out({"any"}).size() == 2);
  room.node_topology.emplace().match_labels.set(kZone, "z");
  asked.has(room);
  CHECK(out({"any"}) == Out{{"b", {kNoRoom}}});
  CHECK(out({"zoned"}).size() == 2);  // it is not of that class
  // Where there is room may be said by several labels, or by expressions.
  room.node_topology->match_labels.set(kHost, "b");
  asked.has(room);
  CHECK(out({"any"}).size() == 2);
  room.node_topology->match_labels.set(kHost, "a");
  asked.has(room);
  CHECK(out({"any"}) == Out{{"b", {kNoRoom}}});
  room.node_topology = k8s::LabelSelector{};
  room.node_topology->match_expressions = {label(kZone).in({"y"})};
  asked.has(room);
  CHECK(out({"any"}) == Out{{"a", {kNoRoom}}});
  room.node_topology->match_expressions = {label(kZone).in({"z"})};
  asked.has(room);
  CHECK(out({"any"}) == Out{{"b", {kNoRoom}}});
  room.maximum_volume_bytes = 4 * kGi;
  asked.has(room);
  CHECK(out({"any"}).size() == 2);
  room.maximum_volume_bytes = 5 * kGi;
  asked.has(room);
  CHECK(out({"any"}).size() == 1);
  // A claim that does not say how much fits anywhere.
  asked.has(with(wanted("any", "any"), [](auto& it) { it.requested_bytes.reset(); }));
  CHECK(out({"any"}).empty());
  asked.has(wanted("any", "any", 5));
  asked.lacks<k8s::CsiStorageCapacity>("r", "csi");
  CHECK(out({"any"}).size() == 2);
  asked.lacks<k8s::CsiDriver>("p");
  CHECK(out({"any"}).empty());
  // Where another claim would find a volume, that does not help this one.
  asked.has(free_volume("v", 9));
  CHECK(out({"any", "zoned"}) == Out{{"b", {kNoVolume}}});
}

TEST_CASE("VolumeBinding: a claim that was given a node keeps its pods there") {
  Asked asked("VolumeBinding");
  const NodeFacts a = asked.on("a");
  const NodeFacts b = asked.on("b");
  asked.has(storage_class("any", "p"));
  asked.has(wanted("c", "any"));
  const k8s::Pod given = pod("p").mounts_claim("c");
  const auto wants = asked.constraint->preparation_for(given, a);
  REQUIRE(wants);
  CHECK(wants->writes == std::vector<ObjectWrite>{
                             SelectNode{.claim = {"default", "c", "uid of c", "1"}, .node = "a"}});
  // Written by another client, or counted on by a plan.
  using Out = std::map<std::string, Names>;
  asked.constraint->apply(WriteAssumed{wants->writes[0]});
  CHECK(asked.excluded(given) == Out{{"b", {kNoVolume}}});
  asked.constraint->apply(WriteOver{wants->writes[0]});
  CHECK(asked.excluded(given).empty());
  asked.has(with(wanted("c", "any"), [](auto& it) {
    it.metadata.annotations.set("volume.kubernetes.io/selected-node", "b");
  }));
  CHECK(asked.excluded(given) == Out{{"a", {kNoVolume}}});
  const auto again = asked.constraint->preparation_for(given, b);
  REQUIRE(again);
  CHECK(again->writes.empty());  // it is only waited

  const auto on = [](const char* name, const char* of, const char* node_name) {
    return with(wanted(name, of), [&](auto& it) {
      it.metadata.annotations.set("volume.kubernetes.io/selected-node", node_name);
    });
  };
  const auto with_another = [&](const char* name) {
    return asked.excluded(pod("p").mounts_claim("c").mounts_claim(name)).size();
  };
  asked.has(on("same", "any", "b"));
  asked.has(on("elsewhere", "any", "a"));
  CHECK(with_another("same") == 1);
  CHECK(with_another("elsewhere") == 2);
  // Nobody would provision it.
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(on("local", "local", "b"));
  CHECK(asked.excluded(pod("p").mounts_claim("local")).size() == 2);
  // Its driver has no room there.
  k8s::CsiDriver driver;
  driver.metadata.name = "p";
  driver.storage_capacity = true;
  asked.has(driver);
  CHECK(asked.excluded(given) == Out{{"a", {kNoVolume}}, {"b", {kNoRoom}}});
}

TEST_CASE("VolumeBinding: a look at a node costs as much as its claims and their selectors") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(free_volume("v", 1, "a"));  // so that each node has to be asked
  asked.has(wanted("plain", "local"));
  asked.has(with(wanted("choosy", "local"), [](auto& it) {
    it.selector.emplace().match_labels.set("a", "b");
    it.selector->match_expressions = {{.key = "disk",
                                       .op = k8s::SelectorOperator::kNotIn,
                                       .values = std::vector<std::string>(100, "slow")}};
  }));
  const auto cost_of = [&](const k8s::Pod& it) {
    std::size_t cost = 0;
    for (const Exclusion& each : asked.constraint->excludes(it, {})) {
      if (std::holds_alternative<std::function<bool(const NodeFacts&)>>(each.allowed)) {
        cost += each.cost;
      }
    }
    return cost;
  };
  CHECK(cost_of(pod("p").mounts_claim("plain")) == 1);
  CHECK(cost_of(pod("p").mounts_claim("choosy")) == 1 + 102);
  CHECK(cost_of(pod("p").mounts_claim("plain").mounts_claim("choosy")) == 2 + 102);
}

TEST_CASE("a change of a claim that is not read changes no answer") {
  const k8s::PersistentVolumeClaim first = wanted("c", "any");
  const k8s::PersistentVolumeClaim labelled = with(first, [](auto& it) {
    it.metadata.resource_version = "2";
    it.metadata.generation = 2;
    it.metadata.labels.set("a", "b");
  });
  const k8s::PersistentVolumeClaim bound = with(labelled, [](auto& it) {
    it.volume_name = "v";
    it.access_modes = {"ReadWriteOncePod"};
  });
  for (const char* name :
       {"VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"}) {
    INFO(name);
    Asked asked(name);
    const auto matters = [&](const k8s::PersistentVolumeClaim& it) {
      return asked.constraint->apply(VolumeClaimUpserted{it});
    };
    asked.has(first);
    CHECK_FALSE(matters(first));
    CHECK_FALSE(matters(labelled));
    CHECK(matters(bound));
    CHECK_FALSE(matters(bound));
    CHECK(matters(first));
  }
}

TEST_CASE("VolumeBinding: a change of a claim that a plan counts on matters, whatever it is") {
  Asked asked("VolumeBinding");
  const k8s::PersistentVolumeClaim first = wanted("c", "any");
  asked.has(first);
  const ObjectWrite write = SelectNode{.claim = {"default", "c", "uid of c", "1"}, .node = "a"};
  asked.constraint->apply(WriteAssumed{write});
  const auto labelled = with(first, [](auto& it) {
    it.metadata.resource_version = "2";
    it.metadata.labels.set("a", "b");
  });
  CHECK(asked.constraint->apply(VolumeClaimUpserted{labelled}));
  CHECK(asked.constraint->readiness(pod("p").mounts_claim("c"), asked.on("a")).state ==
        State::kFailed);
  asked.constraint->apply(WriteOver{write});
  CHECK_FALSE(asked.constraint->apply(VolumeClaimUpserted{first}));
}

TEST_CASE("VolumeBinding: a bind waits for a volume that is provisioned") {
  Asked asked("VolumeBinding");
  const NodeFacts a = asked.on("a");
  asked.has(storage_class("any", "p"));
  const auto first = wanted("c", "any");
  asked.has(first);
  const k8s::Pod given = pod("p").mounts_claim("c");
  const auto wants = asked.constraint->preparation_for(given, a);
  asked.constraint->apply(WriteAssumed{wants->writes.at(0)});
  const auto ready = [&] { return asked.constraint->readiness(given, a); };
  // The watch lags behind the write.
  CHECK(ready().state == State::kWaits);
  const auto seen = [&](const char* node_name) {
    return with(first, [&](auto& it) {
      it.metadata.resource_version = "2";
      if (node_name != nullptr) {
        it.metadata.annotations.set("volume.kubernetes.io/selected-node", node_name);
      }
    });
  };
  asked.has(seen("a"));
  CHECK(ready().state == State::kWaits);
  CHECK(ready().why == "persistentvolumeclaim \"c\" has no volume yet from provisioner p");
  SECTION("it comes") {
    asked.has(bound_claim(seen("a"), "v"));
    CHECK(ready().state == State::kWaits);
    CHECK(ready().why == "volume \"v\" of persistentvolumeclaim \"c\" is not to be seen yet");
    asked.has(free_volume("v", 1, "a"));
    CHECK(ready().state == State::kReady);
  }
  SECTION("it can not be used there") {
    asked.has(bound_claim(seen("a"), "v"));
    asked.has(free_volume("v", 1, "b"));
    CHECK(ready().state == State::kFailed);
    CHECK(ready().why == "volume \"v\" of persistentvolumeclaim \"c\" can not be used there");
  }
  SECTION("the provisioner gives the node up") {
    asked.has(seen(nullptr));
    CHECK(ready().state == State::kFailed);
    CHECK(ready().why == "provisioning failed for PVC \"c\"");
  }
  SECTION("somebody else chooses another node") {
    asked.has(seen("b"));
    CHECK(ready().state == State::kFailed);
  }
  SECTION("the claim goes") {
    asked.lacks<k8s::PersistentVolumeClaim>("c", "default");
    CHECK(ready().state == State::kFailed);
    CHECK(ready().why == "persistentvolumeclaim \"c\" not found");
  }
}

TEST_CASE("VolumeBinding: a bind waits for a volume that is reserved") {
  Asked asked("VolumeBinding");
  const NodeFacts a = asked.on("a");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  const auto it = wanted("c", "local");
  asked.has(it);
  asked.has(free_volume("v", 2, "a"));
  const k8s::Pod given = pod("p").mounts_claim("c");
  const auto wants = asked.constraint->preparation_for(given, a);
  asked.constraint->apply(WriteAssumed{wants->writes.at(0)});
  const auto ready = [&] { return asked.constraint->readiness(given, a); };
  CHECK(ready().state == State::kWaits);
  CHECK(ready().why == "persistentvolumeclaim \"c\" is not bound to volume \"v\" yet");
  const auto seen = [](const char* uid) {
    return with(free_volume("v", 2, "a"), [&](auto& made) {
      made.metadata.resource_version = "8";
      if (uid != nullptr) made.claim_ref = {"default", "c", uid};
    });
  };
  asked.has(seen("uid of c"));
  CHECK(ready().state == State::kWaits);
  SECTION("it is bound") {
    asked.has(bound_claim(it, "v"));
    CHECK(ready().state == State::kReady);
  }
  SECTION("it is taken back") {
    asked.has(seen(nullptr));
    CHECK(ready().state == State::kFailed);
    CHECK(ready().why == "volume \"v\" is not reserved for persistentvolumeclaim \"c\" any more");
  }
  SECTION("it is another's") {
    asked.has(seen("uid of another"));
    CHECK(ready().state == State::kFailed);
  }
  SECTION("by a process that has ended") {
    asked.constraint->apply(WriteOver{wants->writes[0]});
    CHECK(asked.excluded(given).empty());
    const auto again = asked.constraint->preparation_for(given, a);
    REQUIRE(again);
    CHECK(again->writes.empty());
    CHECK(ready().state == State::kWaits);
  }
}

TEST_CASE("VolumeBinding: a bind waits for the first claim that is not ready, and fails with any") {
  Asked asked("VolumeBinding");
  const NodeFacts a = asked.on("a");
  asked.has(storage_class("any", "p"));
  asked.has(free_volume("v", 1));
  for (const char* name : {"c", "d"}) {
    asked.has(with(wanted(name, "any"), [](auto& it) {
      it.metadata.annotations.set("volume.kubernetes.io/selected-node", "a");
    }));
  }
  const k8s::Pod both = pod("p").mounts_claim("c").mounts_claim("d");
  const auto ready = [&] { return asked.constraint->readiness(both, a); };
  CHECK(ready().state == State::kWaits);
  CHECK_THAT(ready().why, Catch::Contains("\"c\""));
  asked.has(bound_claim(wanted("c", "any"), "v"));
  CHECK(ready().state == State::kWaits);
  CHECK_THAT(ready().why, Catch::Contains("\"d\""));
  asked.has(bound_claim(wanted("d", "any"), "v"));
  CHECK(ready().state == State::kReady);
  asked.has(with(wanted("c", "any"), [](auto& it) {
    it.metadata.annotations.set("volume.kubernetes.io/selected-node", "a");
  }));
  asked.lacks<k8s::PersistentVolumeClaim>("d", "default");
  CHECK(ready().state == State::kFailed);
  CHECK(ready().why == "persistentvolumeclaim \"d\" not found");
  CHECK(asked.constraint->readiness(pod("p"), a).state == State::kReady);
}

TEST_CASE("VolumeBinding: a bind awaits all claims of its pod, and the volumes that they take") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(claim("bound", "w"));
  asked.has(wanted("c", "local"));
  asked.has(free_volume("v", 1));
  const k8s::Pod given = pod("p").mounts_claim("bound").mounts_claim("c");
  const auto wants = asked.constraint->preparation_for(given, asked.on("a"));
  REQUIRE(wants);
  CHECK(wants->awaits ==
        std::vector<ObjectKey>{object_key<k8s::PersistentVolumeClaim>("bound", "default"),
                               object_key<k8s::PersistentVolumeClaim>("c", "default"),
                               object_key<k8s::PersistentVolume>("v")});
}

TEST_CASE("VolumeBinding's patience is configured") {
  Asked asked("VolumeBinding", "bindTimeoutSeconds: 30");
  asked.has(storage_class("any", "p"));
  asked.has(wanted("c", "any"));
  const auto wants = asked.constraint->preparation_for(pod("p").mounts_claim("c"), asked.on("a"));
  REQUIRE(wants);
  CHECK(wants->patience == std::chrono::seconds(30));
  CHECK_FALSE(make_plugin("VolumeBinding", "bindTimeoutSeconds: -1"));
  CHECK_FALSE(make_plugin("VolumeBinding", "bindTimeoutSeconds: 86401"));
  CHECK(make_plugin("VolumeBinding", "{kind: VolumeBindingArgs, bindTimeoutSeconds: 86400}"));
  CHECK(make_plugin("VolumeBinding", "bindTimeoutSeconds: 0"));
  CHECK_FALSE(make_plugin("VolumeBinding", "bindTimeout: 1"));
  CHECK_FALSE(asked.constraint->concerns(pod("p")));
  CHECK(asked.constraint->concerns(pod("p").mounts_claim("c")));
}

TEST_CASE("VolumeBinding: a driver that has taken a disk over finds it by its own label") {
  Asked asked("VolumeBinding");
  constexpr const char* kDriversZone = "topology.gke.io/zone";
  constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
  k8s::CsiNode taken_over;
  taken_over.metadata.name = "n";
  taken_over.metadata.annotations.set("storage.alpha.kubernetes.io/migrated-plugins",
                                      "kubernetes.io/gce-pd");
  struct Case {
    const char* name;
    const char* by;         // the label of the node affinity; null: it has none
    k8s::StringMap labels;  // of the volume
    k8s::StringMap before;  // of a node that takes it while the driver has not taken over
    k8s::StringMap after;   // and once it has
  };
  const std::vector<Case> cases = {
      {"by zone", kZone, {}, {{kZone, "a"}}, {{kDriversZone, "a"}}},
      {"by the old label", kOldZone, {}, {{kOldZone, "a"}}, {{kDriversZone, "a"}}},
      {"by something else", "host", {}, {{"host", "a"}}, {{"host", "a"}}},
      {"by something else, and a label",
       "host",
       {{kZone, "b__a"}},
       {{"host", "a"}},
       {{"host", "a"}, {kDriversZone, "b"}}},
      {"by a label", nullptr, {{kZone, "a"}}, {}, {{kDriversZone, "a"}}},
      {"by an old label", nullptr, {{kOldZone, "a"}}, {}, {{kDriversZone, "a"}}},
  };
  const k8s::Pod given = pod("p").mounts_claim("c");
  const auto usable = [&](const k8s::StringMap& labels) {
    const NodeFacts& node = asked.on("n", labels);
    const bool out = asked.excluded(given).contains("n");
    CHECK((asked.constraint->readiness(given, node).state == State::kFailed) == out);
    return !out;
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    asked.has(with(volume("v"), [&](auto& it) {
      it.in_tree_disk = {"gcePersistentDisk", "disk"};
      it.metadata.labels = c.labels;
      if (c.by != nullptr) it.node_affinity = k8s::NodeSelector{{term({label(c.by).in({"a"})})}};
    }));
    asked.has(bound_claim(claim("c", "v"), "v"));
    CHECK(usable(c.before));
    if (c.by != nullptr) CHECK_FALSE(usable({}));
    asked.has(taken_over);
    CHECK(usable(c.after));
    CHECK_FALSE(usable({}));
    asked.lacks<k8s::CsiNode>("n");
    CHECK(usable(c.before));
  }
}

TEST_CASE("VolumeZone: a volume is used in the zones that it is labelled with") {
  Asked asked("VolumeZone");
  const auto labelled = [](const char* name, const k8s::StringMap& labels) {
    return with(volume(name), [&](auto& it) { it.metadata.labels = labels; });
  };
  constexpr const char* kRegion = "topology.kubernetes.io/region";
  constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
  asked.has(volume("anywhere"));
  asked.has(labelled("zonal", {{kZone, "a"}}));
  asked.has(labelled("two-zones", {{kZone, "a__ b"}}));
  asked.has(labelled("old", {{kOldZone, "a"}, {kRegion, "r"}}));
  asked.has(labelled("unreadable", {{kZone, "a__"}}));
  for (const char* name : {"anywhere", "zonal", "two-zones", "old", "unreadable"}) {
    asked.has(claim(name, name));
  }
  CHECK(asked.constraint->excludes(pod("p"), {}).empty());
  CHECK(asked.constraint->excludes(pod("p").mounts_claim("anywhere"), {}).empty());
  CHECK(asked.constraint->excludes(pod("p").mounts_claim("unreadable"), {}).empty());
  const auto allowed = [&](const char* name, const k8s::StringMap& labels) {
    asked.nodes.clear();
    asked.on("n", labels);
    const auto out = asked.excluded(pod("p").mounts_claim(name));
    if (!out.empty()) CHECK(out.at("n") == Names{"node(s) had no available volume zone"});
    return out.empty();
  };
  CHECK(allowed("zonal", {{kZone, "a"}}));
  CHECK_FALSE(allowed("zonal", {{kZone, "b"}}));
  CHECK(asked.codes["node(s) had no available volume zone"] == Code::kUnresolvable);
  // A node that carries some of these labels must carry the right one; one without any is anywhere.
  CHECK_FALSE(allowed("zonal", {{kRegion, "r"}}));
  CHECK_FALSE(allowed("zonal", {{kOldZone, "a"}}));
  CHECK(allowed("zonal", {{"host", "n"}}));
  CHECK(allowed("two-zones", {{kZone, "b"}}));
  CHECK_FALSE(allowed("two-zones", {{kZone, "c"}}));
  // A volume's old label is read as the new one, not the other way round.
  CHECK(allowed("old", {{kZone, "a"}, {kRegion, "r"}}));
  CHECK(allowed("old", {{kOldZone, "a"}, {kRegion, "r"}}));
  CHECK_FALSE(allowed("old", {{kOldZone, "b"}, {kZone, "a"}, {kRegion, "r"}}));
  CHECK_FALSE(allowed("old", {{kZone, "a"}, {kRegion, "s"}}));

  const k8s::Pod given = pod("p").mounts_claim("zonal");
  CHECK_FALSE(asked.refuses(given));
  CHECK_FALSE(asked.refuses(pod("p").mounts_claim("unknown")));  // VolumeBinding's
  CHECK_FALSE(asked.constraint->concerns(pod("p")));
  asked.lacks<k8s::PersistentVolume>("zonal");
  CHECK(asked.refuses(given) == "persistentvolume \"zonal\" not found");
  CHECK(asked.awaits(given) == Names{"zonal", "default/zonal"});
  asked.has(claim("zonal", ""));  // it waits for its pod: VolumeBinding's
  CHECK_FALSE(asked.refuses(given));

  // Ephemeral volumes are VolumeBinding's, too.
  k8s::Volume scratch;
  scratch.name = "scratch";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  const k8s::Pod with_scratch = pod("p").mounts(scratch);
  asked.has(claim("p-scratch", "gone"));
  CHECK_FALSE(asked.refuses(with_scratch));
  asked.has(claim("p-scratch", "two-zones"));
  CHECK(asked.constraint->excludes(with_scratch, {}).empty());
}
