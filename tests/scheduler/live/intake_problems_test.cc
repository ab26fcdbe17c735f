// Kinds that are refused or absent, lists that break off, objects that cannot be read.
#include "k8s-client/api/encode.h"
#include "tests/scheduler/live/intake_bench.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace event = sched::event;
using sched::live::Intake;
using tests::reading::event_line;
using tests::reading::IntakeBench;
using tests::reading::is_of_pods;
using tests::reading::kInitialEventsEnd;
using tests::reading::kQuotas;

}  // namespace

TEST_CASE("disruption budgets that may not be read are not taken for none") {
  IntakeBench bench(0, true);
  bench.refused = "/apis/policy/v1/poddisruptionbudgets";
  bench.serve();
  bench.intake.start(0s);
  for (int second = 0; second < 40; ++second) bench.loop.advance(1s);
  CHECK(bench.synced);
  REQUIRE(bench.events.size() == 1);
  CHECK_FALSE(std::get<event::DisruptionBudgetsReadable>(bench.events[0]).readable);
  bench.refused.clear();  // the right is granted
  for (int minute = 0; minute < 20; ++minute) bench.loop.advance(1min);
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::DisruptionBudgetsReadable>(bench.events[1]).readable);
}

TEST_CASE("a required kind that is refused holds everything back; one that may be hidden not") {
  SECTION("nodes") {
    IntakeBench bench;
    bench.refused = "/api/v1/nodes";
    bench.serve();
    bench.intake.start(1s);
    bench.loop.advance(10s);
    CHECK_FALSE(bench.synced);
    REQUIRE_FALSE(bench.problems.empty());
    CHECK(bench.problems[0] == "nodes");
    for (const Intake::Source& source : bench.intake.sources()) {
      CHECK(source.synced == (source.kind != "nodes"));
    }
  }
  SECTION("what may be hidden") {
    IntakeBench bench(sched::kSelectorChanged, true);
    bench.refused = GENERATE(
        as<std::string>(), "/apis/resource.k8s.io/v1/deviceclasses",
        "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/csinodes",
        "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/csistoragecapacities",
        "/apis/storage.k8s.io/v1/volumeattachments", "/api/v1/services",
        "/api/v1/replicationcontrollers", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets",
        "/apis/policy/v1/poddisruptionbudgets");
    CAPTURE(bench.refused);
    bench.serve();
    bench.intake.start(1s);
    bench.loop.advance(10s);
    CHECK_FALSE(bench.synced);  // it may not know its roles yet
    for (int second = 0; second < 30; ++second) bench.loop.advance(1s);
    CHECK(bench.synced);
    for (int minute = 0; minute < 20; ++minute) {
      bench.loop.advance(60s);
      for (const Intake::Source& source : bench.intake.sources()) {
        CAPTURE(minute, source.kind);
        CHECK(source.in_contact);
      }
    }
  }
}

TEST_CASE("quotas that a cluster does not have hold nothing back, and are found when they come") {
  IntakeBench bench;
  bench.absent = kQuotas;
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(5min);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"off"});

  bench.absent.clear();
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.quota->metadata.resource_version = "7";
  bench.events.clear();
  bench.loop.advance(10s);
  CHECK(bench.seen_quotas == std::vector<std::string>{"off", "team-vision", "on"});
  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<event::QuotaUpserted>(bench.events[0]).object == *bench.quota);

  bench.quota_stream->send(event_line("DELETED", *bench.quota));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::QuotaDeleted>(bench.events[1]).name == "team-vision");
  CHECK(bench.seen_quotas.back() == "-u");
}

TEST_CASE(
    "while no server is behind a load balancer, its 404 does not mean that there are no quotas") {
  IntakeBench bench;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.transport.serve(
      [](const std::shared_ptr<tests::FakeCall>& call) { call->respond(404, "no backend"); });
  bench.intake.start(0s);
  bench.loop.advance(3s);
  bench.serve();
  for (int second = 0; second < 60 && !bench.synced; ++second) bench.loop.advance(1s);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
}

TEST_CASE("quotas that are refused are not taken for none") {
  IntakeBench bench;
  bench.refused = kQuotas;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.serve();
  bench.intake.start(0s);
  const int seconds = GENERATE(3, 600);
  for (int second = 0; second < seconds; ++second) bench.loop.advance(1s);
  CHECK_FALSE(bench.synced);
  CHECK(bench.seen_quotas.empty());
  CHECK(bench.problems[0] == "gpuquotas");
  // The other watches are silent here, for longer than the idle limit.
  const auto recoveries = [&bench] {
    return std::count(bench.recovered.begin(), bench.recovered.end(), "gpuquotas");
  };
  CHECK(recoveries() == 0);
  bench.refused.clear();
  bench.loop.advance(10s);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
  CHECK(recoveries() == 1);
  // The right to read them is taken away: they stay in force, and are not reported as off.
  bench.refused = kQuotas;
  bench.quota_stream->end();
  for (int minute = 0; minute < 10; ++minute) bench.loop.advance(60s);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
  const auto sources = bench.intake.sources();
  CHECK_FALSE(std::find_if(sources.begin(), sources.end(), [](const Intake::Source& source) {
                return source.kind == "gpuquotas";
              })->in_contact);
}

TEST_CASE("a list that breaks off at the same object each time is one problem") {
  IntakeBench bench;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    if (call->request().target.find("/api/v1/nodes") == std::string::npos) {
      call->open();
      return call->send(std::string(kInitialEventsEnd));
    }
    const std::string broken = R"({"metadata":{"name":"n2"},"status":{"allocatable":5}})";
    if (call->request().target.find("sendInitialEvents") == std::string::npos) {
      return call->respond(200, R"({"kind":"NodeList","metadata":{},"items":[)" + broken + "]}");
    }
    call->open();
    call->send(R"({"type":"ADDED","object":)" + k8s::encode(k8s::Node(tests::node("n1"))) + "}\n");
    call->send(R"({"type":"ADDED","object":)" + broken + "}\n");
  });
  bench.intake.start(0s);
  for (int second = 0; second < 60; ++second) bench.loop.advance(1s);
  CHECK(bench.problems.size() > 4);
  CHECK(bench.recovered.empty());
}

TEST_CASE("that the definition of quotas is deleted is survived") {
  IntakeBench bench;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.quota_stream);
  bench.absent = kQuotas;  // the server ends the watch, without a word about the objects
  bench.quota_stream->end();
  bench.loop.advance(1min);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on", "-u", "off"});
  bench.absent.clear();
  bench.loop.advance(10s);
  CHECK(bench.seen_quotas ==
        std::vector<std::string>{"team-vision", "on", "-u", "off", "team-vision", "on"});
}

TEST_CASE("an object that cannot be read holds up its node or its quota, and nothing else") {
  IntakeBench bench;
  const std::string broken_pod =
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"ml","uid":"u-p",)"
      R"("resourceVersion":"7"},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":)"
      R"({"requests":{"nvidia.com/mig-1g.5gb":"one"}}}]}}})"
      "\n";
  const std::string broken_node =
      R"({"type":"ADDED","object":{"metadata":{"name":"n2","uid":"u-n","resourceVersion":"7"},)"
      R"("status":{"allocatable":{"cpu":"8","nvidia.com/gpu":"eight"}}}})"
      "\n";
  const std::string broken_quota =
      R"({"type":"ADDED","object":{"metadata":{"name":"q","uid":"u-q","resourceVersion":"7"},)"
      R"("spec":{"namespaces":["ml"],"quotas":[{"gpuType":"*","guaranteed":"many"}]}}})"
      "\n";
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    const std::string& target = call->request().target;
    call->open();
    if (is_of_pods(target)) call->send(broken_pod);
    if (target.starts_with("/api/v1/nodes")) call->send(broken_node);
    if (target.starts_with(kQuotas)) call->send(broken_quota);
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  CHECK(bench.synced);
  CHECK(bench.problems.empty());
  std::sort(bench.unreadable.begin(), bench.unreadable.end());
  CHECK(bench.unreadable ==
        std::vector<std::string>{"GpuQuota \"q\": spec.quotas[0].guaranteed: ",
                                 "Node \"n2\": status.allocatable[nvidia.com/gpu]: ",
                                 "Pod \"ml/p\": spec.containers[0].resources.requests"
                                 "[nvidia.com/mig-1g.5gb]: "});
  REQUIRE(bench.events.size() == 3);
  std::size_t unreadable = 0;
  for (const Intake::Source& source : bench.intake.sources()) unreadable += source.unreadable;
  CHECK(unreadable == 3);
  for (const sched::Event& each : bench.events) {
    if (const auto* pod = std::get_if<event::PodUpserted>(&each)) {
      CHECK(pod->object.spec.node_name == "n1");
      REQUIRE(pod->object.spec.containers.size() == 1);
      std::vector<std::string> names;
      for (const auto& [name, amount] : pod->object.spec.containers[0].requests) {
        names.push_back(name);
        CHECK(k8s::Quantity::of(100'000) < amount);
      }
      CHECK(names == std::vector<std::string>{"cpu", "ephemeral-storage", "memory",
                                              "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"});
    } else if (const auto* node = std::get_if<event::NodeUpserted>(&each)) {
      CHECK(node->object.spec.unschedulable);
      CHECK(node->object.status.allocatable.empty());
    } else {
      const auto& quota = std::get<event::QuotaUpserted>(each).object;
      CHECK(quota.spec.namespaces == std::vector<std::string>{"ml"});
      CHECK(quota.spec.order == k8s::GpuQuota::Order::kUnknown);
    }
  }
}
