// VolumeBinding: what a bind waits for, and for how long.
#include "tests/plugins/asked.h"
#include "tests/plugins/one_node.h"
#include "tests/plugins/volumes.h"
#include "tests/support/catch.h"

#include <chrono>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::bound_claim;
using tests::claim;
using tests::free_volume;
using tests::make_plugin;
using tests::node;
using tests::pod;
using tests::storage_class;
using tests::volume;
using tests::wanted;
using tests::with;
using State = Readiness::State;

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
    CHECK(ready().avoids_node);
  }
  SECTION("somebody else chooses another node") {
    asked.has(seen("b"));
    CHECK(ready().state == State::kFailed);
    CHECK_FALSE(ready().avoids_node);
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
