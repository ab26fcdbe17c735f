// The calls that make room for a pod are sent once, within limits, and only to the pod of that uid.
#include "tests/k8s-client/client/client_world.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace tests::calls;

TEST_CASE("a pod is nominated for a node by one patch of its status", "[client]") {
  World world;
  const ObjectMeta pod = pod_with_condition("").metadata;
  world.client->nominate(pod, "gpu-7", kLimits, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0/status?timeout=1500ms");
  CHECK(request.content_type == "application/strategic-merge-patch+json");
  CHECK(request.headers == kAcceptsProtobuf);
  check_sent_once(request);
  CHECK(Json::parse(request.body) == Json::parse(R"({"metadata":{"uid":"u-1"},
                        "status":{"nominatedNodeName":"gpu-7"}})"));
  SECTION("taken") {
    call->respond(200, "{}");
    CHECK(world.succeeded());
    CHECK(world.observed == std::vector<std::string>{"PATCH 200"});
  }
  SECTION("another pod has its name") {
    call->respond(422, status_json(422, "Invalid", "metadata.uid: field is immutable"));
    CHECK(world.error().message ==
          "pods \"ml/train-0\": nominate for node \"gpu-7\": 422 Unprocessable Entity: "
          "metadata.uid: field is "
          "immutable");
    CHECK_FALSE(world.error().may_have_acted);
  }
  SECTION("once, also where it may have landed") {
    call->respond(503, status_json(503, "ServiceUnavailable", "why"));
    world.loop.advance(1h);
    CHECK(world.error().may_have_acted);
    CHECK_FALSE(world.transport.has_next());
  }
}

TEST_CASE("a nomination is removed by null", "[client]") {
  World world;
  world.client->nominate(pod_with_condition("").metadata, "", {}, world.keep_result());
  const auto call = world.transport.next();
  CHECK(Json::parse(call->request().body) ==
        Json::parse(R"({"metadata":{"uid":"u-1"},"status":{"nominatedNodeName":null}})"));
  call->respond(404, status_json(404, "NotFound", "no such pod"));
  CHECK(world.error().message ==
        "pods \"ml/train-0\": remove the nominated node: 404 Not Found: no such pod");
}

TEST_CASE("a pod that is preempted gets the condition that says so", "[client]") {
  World world;
  world.client->set_disruption_target(pod_with_condition("").metadata, "s: why", kLimits,
                                      world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0/status?timeout=1500ms");
  CHECK(request.content_type == "application/strategic-merge-patch+json");
  CHECK(request.headers == kAcceptsProtobuf);
  check_sent_once(request);
  CHECK(Json::parse(request.body) == Json::parse(R"({"metadata":{"uid":"u-1"},
          "status":{"conditions":[{"type":"DisruptionTarget","status":"True",
            "reason":"PreemptionByScheduler","message":"s: why",
            "lastTransitionTime":"2026-03-04T05:06:07Z"}]}})"));
  SECTION("taken") {
    call->respond(200, "{}");
    CHECK(world.succeeded());
  }
  SECTION("refused") {
    call->respond(403, status_json(403, "Forbidden", "no"));
    CHECK(world.error().message ==
          "pods \"ml/train-0\": set condition DisruptionTarget=True: 403 Forbidden: no");
  }
}

TEST_CASE("a pod is deleted if it still is that pod, with its own grace period", "[client]") {
  World world;
  world.client->delete_pod(pod_with_condition("").metadata, kLimits, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kDelete);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0?timeout=1500ms");
  CHECK(request.content_type == "application/json");
  CHECK(request.headers == kAcceptsProtobuf);
  check_sent_once(request);
  CHECK(Json::parse(request.body) == Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                        "preconditions":{"uid":"u-1"}})"));
  SECTION("taken") {
    call->respond(200, "{}");
    CHECK(world.succeeded());
    CHECK(world.observed == std::vector<std::string>{"DELETE 200"});
  }
  SECTION("another pod has its name") {
    call->respond(409, status_json(409, "Conflict", "the UID in the precondition does not match"));
    CHECK(world.error().message ==
          "pods \"ml/train-0\": delete: 409 Conflict: the UID in the precondition does not match");
    CHECK_FALSE(world.error().may_have_acted);
  }
  SECTION("once, also where it may have landed") {
    world.loop.advance(1h);
    CHECK(world.error().may_have_acted);
    CHECK_FALSE(world.transport.has_next());
  }
}

TEST_CASE("whether a pod would be deleted is asked by a dry run", "[client]") {
  World world;
  world.client->try_delete_pod(pod_with_condition("").metadata, kLimits, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kDelete);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0?timeout=1500ms");
  CHECK_FALSE(request.repeatable);
  // The server reads no options from the query where there is a body.
  CHECK(Json::parse(request.body) == Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                        "preconditions":{"uid":"u-1"},"dryRun":["All"]})"));
  call->respond(403, status_json(403, "Forbidden", "no"));
  CHECK(world.error().message == "pods \"ml/train-0\": try to delete: 403 Forbidden: no");
}

}  // namespace
}  // namespace k8s
