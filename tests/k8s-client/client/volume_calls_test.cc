// The calls that prepare the volumes of a pod.
#include "tests/k8s-client/client/client_world.h"

#include <optional>
#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace tests::calls;

ObjectMeta data_claim() {
  ObjectMeta claim;
  claim.namespace_ = "ml";
  claim.name = "data";
  claim.uid = "u-1";
  claim.resource_version = "7";
  claim.annotations = {{"not", "sent"}};
  return claim;
}

PersistentVolume free_volume() {
  PersistentVolume volume;
  volume.metadata.name = "v";
  volume.metadata.resource_version = "9";
  volume.storage_class = "not sent";
  return volume;
}

TEST_CASE("a claim learns of its node by one merge patch, at the version that was seen",
          "[client]") {
  World world;
  world.client->select_node(data_claim(), "gpu-7", kLimits, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/api/v1/namespaces/ml/persistentvolumeclaims/data?timeout=1500ms");
  CHECK(request.content_type == "application/merge-patch+json");
  CHECK(request.headers == kAcceptsProtobuf);
  check_sent_once(request);
  CHECK(Json::parse(request.body) == Json::parse(R"({"metadata":{"resourceVersion":"7",
                        "annotations":{"volume.kubernetes.io/selected-node":"gpu-7"}}})"));
  SECTION("taken") {
    call->respond(200, "{}");
    CHECK(world.succeeded());
    CHECK(world.observed == std::vector<std::string>{"PATCH 200"});
  }
  SECTION("changed meanwhile") {
    call->respond(409, status_json(409, "Conflict", "it has been modified"));
    CHECK(world.error().message ==
          "persistentvolumeclaims \"ml/data\": select node \"gpu-7\": 409 Conflict: it has been "
          "modified");
    CHECK_FALSE(world.error().may_have_acted);
  }
  SECTION("once, also where it may have landed") {
    call->respond(503, status_json(503, "ServiceUnavailable", "why"));
    world.loop.advance(1h);
    CHECK(world.error().may_have_acted);
    CHECK_FALSE(world.transport.has_next());
  }
}

TEST_CASE("a volume is given to a claim by one merge patch, at the version that was seen",
          "[client]") {
  World world;
  world.client->bind_volume(free_volume(), data_claim(), kLimits, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/api/v1/persistentvolumes/v?timeout=1500ms");
  CHECK(request.content_type == "application/merge-patch+json");
  CHECK(request.headers == kAcceptsProtobuf);
  check_sent_once(request);
  CHECK(Json::parse(request.body) == Json::parse(R"({"metadata":{"resourceVersion":"9",
                        "annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},
                        "spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim",
                        "namespace":"ml","name":"data","uid":"u-1","resourceVersion":"7"}}})"));
  SECTION("taken") {
    call->respond(200, "{}");
    CHECK(world.succeeded());
  }
  SECTION("changed meanwhile") {
    call->respond(409, status_json(409, "Conflict", "it has been modified"));
    CHECK(world.error().message ==
          "persistentvolumes \"v\": bind to claim \"ml/data\": 409 Conflict: it has been modified");
  }
  SECTION("once, also where it may have landed") {
    world.loop.advance(1h);
    CHECK(world.error().may_have_acted);
    CHECK_FALSE(world.transport.has_next());
  }
}

TEST_CASE("a volume that named its claim before is not said to be bound by a controller",
          "[client]") {
  struct Case {
    const char* name;
    std::optional<ClaimReference> ref;
    bool by_controller;
  };
  const Case cases[] = {{"none", {}, true},
                        {"by name", {{"ml", "data", ""}}, false},
                        {"by uid", {{"ml", "data", "u-1"}}, false},
                        {"an earlier one", {{"ml", "data", "u-0"}}, true},
                        {"another", {{"ml", "other", ""}}, true},
                        {"another namespace's", {{"web", "data", ""}}, true}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    PersistentVolume volume = free_volume();
    volume.claim_ref = c.ref;
    world.client->bind_volume(volume, data_claim(), {}, world.keep_result());
    const Json body = Json::parse(world.transport.next()->request().body);
    CHECK(body["metadata"].contains("annotations") == c.by_controller);
    CHECK(body["spec"]["claimRef"]["uid"] == "u-1");
  }
}

}  // namespace
}  // namespace k8s
