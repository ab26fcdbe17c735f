#include "k8s-client/client.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/protobuf/documents.h"
#include "tests/k8s-client/client/client_world.h"
#include "tests/support/request_body.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
namespace {

using namespace tests::calls;
using tests::body_of;

Binding train_to_gpu_7() {
  return {.namespace_ = "ml", .pod = "train-0", .pod_uid = "u-1", .node = "gpu-7"};
}

TEST_CASE("a bind is one POST with the pod's uid and the server's deadline", "[client]") {
  World world;
  world.client->bind(train_to_gpu_7(), {.deadline = 30s}, world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPost);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0/binding?timeout=30s");
  CHECK(request.deadline == 30s);
  CHECK_FALSE(request.repeatable);
  CHECK(request.content_type == "application/vnd.kubernetes.protobuf");
  CHECK(request.headers == kAcceptsProtobuf);
  CHECK(body_of(request) == Json::parse(R"({"apiVersion":"v1","kind":"Binding",
                        "metadata":{"namespace":"ml","name":"train-0","uid":"u-1"},
                        "target":{"apiVersion":"v1","kind":"Node","name":"gpu-7"}})"));
  CHECK_FALSE(world.result);
  call->respond(201, R"({"kind":"Status","status":"Success"})");
  world.run();
  REQUIRE(world.result);
  CHECK(*world.result);
  CHECK(world.observed == std::vector<std::string>{"POST 201"});
}

TEST_CASE("a bind's refusal is understood in protobuf", "[client]") {
  World world;
  world.client->bind(train_to_gpu_7(), {.deadline = 30s}, world.keep_result());
  const std::string refusal = protobuf::document("v1", "Status", [](protobuf::Writer& out) {
    out.text(2, "Failure");
    out.text(3, "pod train-0 is already assigned to node \"gpu-6\"");
    out.text(4, "Conflict");
    out.number(6, 409);
  });
  world.transport.next()->respond(409, refusal);
  world.run();
  REQUIRE(world.result);
  REQUIRE_FALSE(*world.result);
  CHECK(world.result->error().message ==
        "pods \"ml/train-0\": bind to \"gpu-7\": 409 Conflict: pod train-0 is already assigned to "
        "node \"gpu-6\"");
  CHECK(world.result->error().reason == "Conflict");
}

TEST_CASE("a bind brings the pod annotations", "[client]") {
  World world;
  Binding binding = train_to_gpu_7();
  binding.annotations = {{"example.com/a", "1"}, {"example.com/b", "2"}};
  world.client->bind(binding, {.deadline = 30s}, world.keep_result());
  const auto call = world.transport.next();
  CHECK(body_of(call->request())["metadata"] ==
        Json::parse(R"({"namespace":"ml","name":"train-0","uid":"u-1",
                        "annotations":{"example.com/a":"1","example.com/b":"2"}})"));
  call->respond(201, R"({"kind":"Status","status":"Success"})");
}

TEST_CASE("a bind is never sent twice", "[client]") {
  struct Case {
    const char* name;
    int status;
    const char* want;
  };
  const Case cases[] = {
      {"conflict", 409, "pods \"ml/train-0\": bind to \"gpu-7\": 409 Conflict: why"},
      {"busy", 429, "pods \"ml/train-0\": bind to \"gpu-7\": 429 Too Many Requests: why"},
      {"unavailable", 503, "pods \"ml/train-0\": bind to \"gpu-7\": 503 Service Unavailable: why"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      World world;
      world.client->bind(train_to_gpu_7(), {.deadline = 1500ms}, world.keep_result());
      world.transport.next()->respond(c.status, status_json(c.status, "Reason", "why"));
      world.loop.advance(1h);
      REQUIRE(world.result);
      REQUIRE_FALSE(*world.result);
      const Error& error = world.result->error();
      CHECK(error.message == c.want);
      CHECK(error.kind == ErrorKind::kStatus);
      CHECK(error.http_status == c.status);
      CHECK(error.reason == "Reason");
      CHECK(error.may_have_acted == (c.status == 503));
      CHECK(world.transport.seen() ==
            std::vector<std::string>{
                "POST /api/v1/namespaces/ml/pods/train-0/binding?timeout=1500ms"});
    }
  }
}

TEST_CASE("a bind without an answer says that it may have happened", "[client]") {
  World world;
  world.client->bind(train_to_gpu_7(), {.deadline = 30s}, world.keep_result());
  const auto call = world.transport.next();
  world.loop.advance(1h);
  REQUIRE(world.result);
  REQUIRE_FALSE(*world.result);
  CHECK(world.result->error().kind == ErrorKind::kTimeout);
  CHECK(world.result->error().may_have_acted);
  CHECK(world.result->error().message ==
        "pods \"ml/train-0\": bind to \"gpu-7\": the deadline has passed");
  CHECK_FALSE(world.transport.has_next());
  CHECK(world.observed == std::vector<std::string>{"POST 0"});
}

TEST_CASE("names stay within their path segment", "[client]") {
  World world;
  world.client->bind({.namespace_ = "a/b", .pod = "../x?y", .pod_uid = "u", .node = "n"},
                     {.deadline = 1s}, world.keep_result());
  CHECK(world.transport.next()->request().target ==
        "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy/binding?timeout=1s");
}

TEST_CASE("the condition PodScheduled is merged by its type, for that pod alone", "[client]") {
  World world;
  world.client->set_pod_scheduled(pod_with_condition(""),
                                  {.status = "False",
                                   .reason = "Unschedulable",
                                   .message = "0/3 nodes \xff are available",
                                   .observed_generation = 4},
                                  world.keep_result());
  const auto call = world.transport.next();
  const Request& request = call->request();
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0/status");
  CHECK(request.content_type == "application/strategic-merge-patch+json");
  const Json want = {
      {"metadata", {{"uid", "u-1"}, {"resourceVersion", "7"}}},
      {"status",
       {{"conditions", Json::array({{{"type", "PodScheduled"},
                                     {"status", "False"},
                                     {"reason", "Unschedulable"},
                                     {"message", "0/3 nodes \xef\xbf\xbd are available"},
                                     {"lastProbeTime", nullptr},
                                     {"lastTransitionTime", "2026-03-04T05:06:07Z"},
                                     {"observedGeneration", 4}}})}}}};
  CHECK(Json::parse(request.body) == want);
  call->respond(200, "{}");
  world.run();
  REQUIRE(world.result);
  CHECK(*world.result);
}

TEST_CASE("without a clock the client reads the system's", "[client]") {
  World world;
  Client client(world.transport, world.loop);
  const auto before = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  client.set_pod_scheduled(pod_with_condition(""), {.status = "False"}, world.keep_result());
  const auto call = world.transport.next();
  const Json sent = Json::parse(call->request().body);
  const auto time =
      json::parse_rfc3339(sent["status"]["conditions"][0]["lastTransitionTime"].get<std::string>());
  REQUIRE(time);
  CHECK(*time >= before);
  CHECK(*time <= std::chrono::system_clock::now());
  call->respond(200, "{}");
  world.run();
}

TEST_CASE("the nominated node is written beside the condition where that is wanted", "[client]") {
  struct Case {
    const char* name;
    std::optional<std::string> wanted;
    const char* status;  // but for the conditions
  };
  const Case cases[] = {{"left as it is", {}, "{}"},
                        {"set", "gpu-7", R"({"nominatedNodeName":"gpu-7"})"},
                        {"removed", "", R"({"nominatedNodeName":null})"}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.client->set_pod_scheduled(pod_with_condition(""),
                                    {.status = "False", .nominated_node = c.wanted},
                                    world.keep_result());
    Json status = Json::parse(world.transport.next()->request().body)["status"];
    CHECK(status["conditions"].size() == 1);
    status.erase("conditions");
    CHECK(status == Json::parse(c.status));
  }
}

TEST_CASE("the transition time moves only with the status", "[client]") {
  struct Case {
    const char* present;
    const char* written;
    bool moves;
  };
  const Case cases[] = {{"", "False", true},
                        {"False", "False", false},
                        {"True", "False", true},
                        {"False", "True", true}};
  for (const Case& c : cases) {
    CAPTURE(c.present, c.written);
    World world;
    world.client->set_pod_scheduled(pod_with_condition(c.present),
                                    {.status = c.written, .reason = "r", .message = "m"},
                                    world.keep_result());
    const Json body = Json::parse(world.transport.next()->request().body);
    CHECK(body["status"]["conditions"][0].contains("lastTransitionTime") == c.moves);
  }
}

TEST_CASE("calls that may be repeated are, on 429 and 503, a bounded number of times", "[client]") {
  World world;
  world.client->set_pod_scheduled(pod_with_condition(""), {.status = "False"}, world.keep_result());
  SECTION("until one succeeds, with the same body") {
    const auto first = world.transport.next();
    first->respond(503, "", {{"Retry-After", "7"}});
    world.run();
    world.loop.advance(6999ms);
    CHECK_FALSE(world.transport.has_next());
    world.loop.advance(1ms);
    const auto second = world.transport.next();
    CHECK(second->request().body == first->request().body);
    CHECK(second->request().target == first->request().target);
    second->respond(200, "{}");
    world.run();
    REQUIRE(world.result);
    CHECK(*world.result);
    CHECK(world.observed == std::vector<std::string>{"PATCH 503", "PATCH 200"});
  }
  SECTION("then the error stands") {
    int sent = 0;
    for (; !world.result; world.loop.advance(10s)) {
      world.transport.next()->respond(429, status_json(429, "TooManyRequests", "busy"));
      ++sent;
    }
    CHECK(sent == 5);
    REQUIRE_FALSE(*world.result);
    CHECK(world.result->error().message ==
          "pods \"ml/train-0\": set condition PodScheduled=False: 429 Too Many Requests: busy");
  }
  SECTION("other errors stand at once") {
    world.transport.next()->respond(409, status_json(409, "Conflict", "uid"));
    world.loop.advance(1h);
    REQUIRE(world.result);
    REQUIRE_FALSE(*world.result);
    CHECK(world.result->error().http_status == 409);
    CHECK_FALSE(world.transport.has_next());
  }
  SECTION("a client destroyed meanwhile sends nothing more") {
    world.transport.next()->respond(503);
    world.run();
    world.client.reset();
    world.loop.advance(1h);
    CHECK_FALSE(world.transport.has_next());
    CHECK_FALSE(world.result);
  }
}

TEST_CASE("a pod is read back", "[client]") {
  World world;
  std::optional<Result<Pod>> pod;
  world.client->get_pod("ml", "train-0", [&](Result<Pod> answer) { pod = std::move(answer); });
  const auto call = world.transport.next();
  CHECK(call->request().target == "/api/v1/namespaces/ml/pods/train-0");
  CHECK(call->request().repeatable);
  // As much of "<" as etcd stores is six times as long in Go's JSON.
  CHECK(call->request().body_limit > std::size_t{6} * 1536 * 1024);
  SECTION("as it is") {
    call->respond(200, R"({"kind":"Pod","metadata":{"name":"train-0","namespace":"ml","uid":"u-1"},
                           "spec":{"nodeName":"gpu-7"}})");
    world.run();
    REQUIRE(pod);
    REQUIRE(*pod);
    CHECK((*pod)->spec.node_name == "gpu-7");
    CHECK((*pod)->metadata.uid == "u-1");
  }
  SECTION("not there") {
    call->respond(404, status_json(404, "NotFound", "pods \\\"train-0\\\" not found"));
    world.run();
    REQUIRE(pod);
    REQUIRE_FALSE(*pod);
    CHECK(pod->error().kind == ErrorKind::kStatus);
    CHECK(pod->error().http_status == 404);
  }
  SECTION("garbage") {
    call->respond(200, "{\"metadata\":");
    world.run();
    REQUIRE(pod);
    REQUIRE_FALSE(*pod);
    CHECK(pod->error().kind == ErrorKind::kDecode);
    CHECK(pod->error().message.starts_with("pods \"ml/train-0\": get: "));
  }
}

TEST_CASE("the server's version", "[client]") {
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {R"({"major":"1","gitVersion":"v1.36.3"})", "v1.36.3"},
      {R"({"major":"1"})", std::nullopt},
      {R"({"gitVersion":1})", std::nullopt},
      {R"([])", std::nullopt},
      {"<html>", std::nullopt},
  };
  for (const auto& [body, want] : cases) {
    CAPTURE(body);
    World world;
    std::optional<Result<std::string>> version;
    world.client->server_version([&](Result<std::string> v) { version = std::move(v); });
    const auto call = world.transport.next();
    CHECK(call->request().target == "/version");
    call->respond(200, body);
    world.run();
    REQUIRE(version);
    CHECK(version->has_value() == want.has_value());
    if (want) CHECK(**version == *want);
  }
}

TEST_CASE("an event as events.k8s.io/v1 wants it", "[client]") {
  World world;
  EventObject event;
  event.namespace_ = "ml";
  event.name = "train-0.17";
  event.regarding_kind = "Pod";
  event.regarding_namespace = "ml";
  event.regarding_name = "train-0";
  event.regarding_uid = "u-1";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.type = "Normal";
  event.note = "Successfully assigned ml/train-0 to gpu-7";
  event.reporting_controller = "gpu-scheduler";
  event.reporting_instance = "gpu-scheduler-host";
  event.event_time = Timestamp(std::chrono::sys_days{std::chrono::year{2026} / 3 / 4} + 5h);
  const Json body = Json::parse(R"({
      "apiVersion":"events.k8s.io/v1","kind":"Event",
      "metadata":{"namespace":"ml","name":"train-0.17"},
      "eventTime":"2026-03-04T05:00:00.000000Z",
      "reportingController":"gpu-scheduler","reportingInstance":"gpu-scheduler-host",
      "action":"Binding","reason":"Scheduled","type":"Normal",
      "note":"Successfully assigned ml/train-0 to gpu-7",
      "regarding":{"apiVersion":"v1","kind":"Pod","namespace":"ml","name":"train-0","uid":"u-1"}})");
  SECTION("created") {
    world.client->create_event(event, world.keep_result());
    const auto call = world.transport.next();
    CHECK(call->request().method == Method::kPost);
    CHECK(call->request().target == "/apis/events.k8s.io/v1/namespaces/ml/events");
    CHECK_FALSE(call->request().repeatable);
    CHECK(call->request().content_type == "application/vnd.kubernetes.protobuf");
    CHECK(call->request().headers == kAcceptsProtobuf);
    CHECK(body_of(call->request()) == body);
  }
  event.series_count = 3;
  event.series_last_observed = event.event_time + 90s + 12us;
  const Json series = {{"count", 3}, {"lastObservedTime", "2026-03-04T05:01:30.000012Z"}};
  SECTION("created after it repeated") {
    world.client->create_event(event, world.keep_result());
    Json want = body;
    want["series"] = series;
    CHECK(body_of(world.transport.next()->request()) == want);
  }
  SECTION("repeated") {
    world.client->patch_event_series(event, world.keep_result());
    const auto call = world.transport.next();
    CHECK(call->request().method == Method::kPatch);
    CHECK(call->request().target == "/apis/events.k8s.io/v1/namespaces/ml/events/train-0.17");
    CHECK(call->request().content_type == "application/strategic-merge-patch+json");
    CHECK(Json::parse(call->request().body) == Json{{"series", series}});
  }
}

TEST_CASE("a quota's status is one merge patch, at the version that was seen", "[client]") {
  World world;
  ObjectMeta quota;
  quota.name = "team-vision";
  quota.uid = "u-1";
  quota.resource_version = "7";
  quota.labels = {{"not", "sent"}};
  GpuQuota::Status status;
  status.observed_generation = 2;
  status.total.used = Quantity::of_milli(1500);
  status.quotas = {{.gpu_type = "*", .use = status.total}};
  status.conditions = {{.type = "Ready",
                        .status = "True",
                        .last_transition_time = Timestamp(std::chrono::seconds(1)),
                        .reason = "Enforced",
                        .message = "m"}};
  world.client->set_gpu_quota_status(quota, status, world.keep_result());
  const auto call = world.transport.next();
  CHECK(call->request().method == Method::kPatch);
  CHECK(call->request().target == "/apis/gpu-scheduler.io/v1alpha1/gpuquotas/team-vision/status");
  CHECK(call->request().content_type == "application/merge-patch+json");
  const Json use =
      Json::parse(R"({"guaranteed":"0","used":"1500m","borrowed":"0","lent":"0","pending":"0"})");
  Json line = use;
  line["gpuType"] = "*";
  const Json condition = Json::parse(R"({"type":"Ready","status":"True",
      "lastTransitionTime":"1970-01-01T00:00:01Z","reason":"Enforced","message":"m"})");
  CHECK(Json::parse(call->request().body) ==
        Json{{"metadata", {{"uid", "u-1"}, {"resourceVersion", "7"}}},
             {"status",
              {{"observedGeneration", 2},
               {"total", use},
               {"quotas", Json::array({line})},
               {"conditions", Json::array({condition})}}}});
  call->respond(409, status_json(409, "Conflict", "it has been modified"));
  world.run();
  REQUIRE(world.result);
  REQUIRE_FALSE(*world.result);
  CHECK(world.result->error().message ==
        "gpuquotas \"team-vision\": set status: 409 Conflict: it has been modified");
}

}  // namespace
}  // namespace k8s
