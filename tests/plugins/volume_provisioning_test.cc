// VolumeBinding: where volumes are provisioned for claims.
#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/volumes.h"
#include "tests/support/catch.h"

#include <map>
#include <string>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::free_volume;
using tests::kGi;
using tests::kHost;
using tests::kNoRoom;
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
  // Of several claims the first that a node cannot have is the reason.
  CHECK(out({"any", "none"}) == Out{{"a", {kNoRoom}}, {"b", {kNoRoom}}});
  CHECK(out({"any", "zoned"}) == Out{{"a", {kNoRoom}}, {"b", {kNoRoom}}});
  CHECK(out({"zoned", "any"}) == Out{{"a", {kNoRoom}}, {"b", {kNoVolume}}});
  CHECK(out({"zoned", "none"}) == Out{{"a", {kNoRoom}}, {"b", {kNoVolume}}});
  CHECK(out({"none", "any"}) == Out{{"a", {kNoVolume}}, {"b", {kNoVolume}}});
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
  room.storage_class = "zoned";
  asked.has(room);
  CHECK(out({"any"}).size() == 2);
  CHECK(out({"zoned"}) == Out{{"b", {kNoVolume}}});
  room.storage_class = "any";
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
