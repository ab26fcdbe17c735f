// VolumeBinding: which free volumes claims take, and where.
#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/volumes.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::free_volume;
using tests::kGi;
using tests::kHost;
using tests::kNoVolume;
using tests::kZone;
using tests::label;
using tests::Names;
using tests::node;
using tests::pod;
using tests::storage_class;
using tests::term;
using tests::volume;
using tests::wanted;
using tests::with;

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
  // Requirements on the node's name are not read.
  CHECK(left(of({term({}, {label("metadata.name").in({"other"})})})) == Names{"m", "n"});
  CHECK(left(of({term({label(kHost).in({"n"})}, {label("metadata.name").in({"m"})})})) ==
        Names{"n"});
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

TEST_CASE("VolumeBinding: in a trial the claims of pods that are added take their volumes") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.has(storage_class("any", "p"));
  for (const char* name : {"c", "d"}) asked.has(wanted(name, "local"));
  for (const char* name : {"e", "f"}) asked.has(wanted(name, "any"));
  asked.on("n");
  asked.on("m");
  asked.has(free_volume("v", 1, "n"));
  asked.has(free_volume("w", 1, "m"));
  const k8s::Pod first = pod("a").mounts_claim("c");
  const k8s::Pod second = pod("b").mounts_claim("d");
  const k8s::Pod shares = pod("s").mounts_claim("c");
  using Out = std::map<std::string, Names>;
  const PodDifference on_n({}, {{&first, "n"}});
  CHECK(asked.excluded(second).empty());
  CHECK(asked.excluded(second, on_n) == Out{{"n", {kNoVolume}}});
  CHECK(asked.excluded(second, PodDifference({}, {{&first, "n"}, {&shares, "m"}})).size() == 2);
  CHECK(asked.excluded(shares, on_n).empty());
  asked.has(free_volume("x", 1, "n"));
  CHECK(asked.excluded(second, on_n).empty());
  // Volumes that are provisioned are not taken from each other.
  const k8s::Pod makes = pod("e").mounts_claim("e");
  CHECK(asked.excluded(pod("f").mounts_claim("f"), PodDifference({}, {{&makes, "n"}})).empty());
}

TEST_CASE("VolumeBinding: pods that a trial adds choose their volumes before the pod in question") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  asked.on("n");
  asked.has(
      with(free_volume("fast", 1, "n"), [](auto& it) { it.metadata.labels.set("disk", "fast"); }));
  asked.has(free_volume("large", 2, "n"));
  asked.has(wanted("plain", "local"));
  asked.has(with(wanted("choosy", "local"),
                 [](auto& it) { it.selector.emplace().match_labels.set("disk", "fast"); }));
  const k8s::Pod plain = pod("a").mounts_claim("plain");
  const k8s::Pod choosy = pod("b").mounts_claim("choosy");
  // It takes the smallest, which is the only one for the other.
  CHECK(asked.excluded(choosy, PodDifference({}, {{&plain, "n"}})).size() == 1);
  CHECK(asked.excluded(plain, PodDifference({}, {{&choosy, "n"}})).empty());
}

TEST_CASE("VolumeBinding: what was found for a trial does not count in the next one") {
  Asked asked("VolumeBinding");
  asked.has(storage_class("local", "kubernetes.io/no-provisioner"));
  NodeFacts& n = asked.on("n");
  asked.on("m");
  for (const char* name : {"v", "w"}) asked.has(free_volume(name, 1, "n"));
  std::vector<k8s::Pod> pods;
  for (const char* name : {"a", "b", "c"}) {
    asked.has(wanted(name, "local"));
    pods.push_back(pod(name).mounts_claim(name));
  }
  const auto takes_third = [&](std::vector<PodDifference::Added> added) {
    return !asked.excluded(pods[2], PodDifference({}, std::move(added))).contains("n");
  };
  const PodDifference::Added first{&pods[0], "n"};
  const PodDifference::Added second{&pods[1], "n"};
  CHECK(takes_third({first}));
  CHECK_FALSE(takes_third({first, second}));
  CHECK(takes_third({second}));
  CHECK(takes_third({}));
  CHECK_FALSE(takes_third({second, first}));
  CHECK(takes_third({second, {&pods[0], "m"}}));
  REQUIRE_FALSE(takes_third({first, second}));
  asked.has(free_volume("x", 1, "n"));
  CHECK(takes_third({first, second}));
  asked.lacks<k8s::PersistentVolume>("x");
  REQUIRE_FALSE(takes_third({first, second}));
  // The node is another now, and has other volumes.
  n.labels.set(kHost, "o");
  for (const char* name : {"o1", "o2", "o3"}) asked.has(free_volume(name, 1, "o"));
  REQUIRE(takes_third({first, second}));
  n.labels.set(kHost, "n");
  CHECK_FALSE(takes_third({first, second}));
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

  // Where its driver reports the room: also as much as there are selectors to be compared with.
  asked.has(storage_class("made", "p"));
  asked.has(wanted("made", "made"));
  k8s::CsiDriver driver;
  driver.metadata.name = "p";
  driver.storage_capacity = true;
  asked.has(driver);
  const auto has_room = [&](const char* name, const k8s::StringMap& at) {
    k8s::CsiStorageCapacity room;
    room.metadata.name = name;
    room.storage_class = "made";
    room.capacity_bytes = kGi;
    room.node_topology.emplace().match_labels = at;
    asked.has(room);
  };
  has_room("a", {{kHost, "a"}});
  has_room("b", {{kHost, "b"}});
  // Each node is asked twice: whether there is a volume, and whether there is room.
  CHECK(cost_of(pod("p").mounts_claim("made")) == 2 * (1 + 1));
  has_room("c", {{kHost, "c"}, {kZone, "z"}});
  CHECK(cost_of(pod("p").mounts_claim("made")) == 2 * (1 + 2));
}
