// Which kinds are watched, and when, and what comes of them as events.
#include "scheduler/live/record/record.h"
#include "tests/scheduler/live/intake_bench.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace event = sched::event;
using tests::reading::event_line;
using tests::reading::IntakeBench;
using tests::reading::is_of_pods;
using tests::reading::kInitialEventsEnd;

}  // namespace

TEST_CASE("pods are not asked for before a predecessor's last bind must have landed") {
  IntakeBench bench;
  bench.serve();
  bench.intake.start(6s);
  bench.loop.advance(5'999ms);
  CHECK_FALSE(bench.asked_for_pods());
  CHECK_FALSE(bench.synced);
  bench.loop.advance(1ms);
  bench.loop.run_ready();
  CHECK(bench.asked_for_pods());
  CHECK(bench.synced);
}

TEST_CASE("finished pods are not asked for") {
  IntakeBench bench;
  bench.serve();
  bench.intake.start(0s);
  bench.loop.advance(1ms);
  const auto& seen = bench.transport.seen();
  const auto found = std::find_if(seen.begin(), seen.end(), is_of_pods);
  REQUIRE(found != seen.end());
  CHECK_THAT(*found, Catch::Contains("status.phase%21%3DSucceeded") ||
                         Catch::Contains("status.phase!%3DSucceeded") ||
                         Catch::Contains("status.phase!=Succeeded"));
}

TEST_CASE("pods come as events, deletions with their uid") {
  IntakeBench bench;
  bench.pods = {tests::pod("a").uid("uid-a"), tests::pod("b").uid("uid-b")};
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::PodUpserted>(bench.events[0]).object.metadata.name == "a");
  CHECK(std::get<event::PodUpserted>(bench.events[1]).object.metadata.name == "b");
  CHECK(bench.synced);
  bench.pod_stream->send(event_line("DELETED", bench.pods[0]));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 3);
  const auto& gone = std::get<event::PodDeleted>(bench.events[2]).pod;
  CHECK(gone == sched::PodRef{"default", "a", "uid-a"});
  CHECK(bench.seen_pods == std::vector<std::string>{"a", "b", "-uid-a"});
}

TEST_CASE("the kinds of storage come as events, each from its path") {
  const auto named = []<typename Object>(Object object) {
    object.metadata.name = "x";
    object.metadata.uid = "uid-x";
    return object;
  };
  k8s::CsiStorageCapacity capacity;
  capacity.metadata.namespace_ = "ns";
  const auto lines = [&](const std::string& type) {
    const std::string storage = "/apis/storage.k8s.io/v1/";
    return std::map<std::string, std::string>{
        {"/api/v1/persistentvolumeclaims", event_line(type, named(tests::claim("x", "")))},
        {"/api/v1/persistentvolumes", event_line(type, named(tests::volume("x")))},
        {storage + "storageclasses", event_line(type, named(k8s::StorageClass()))},
        {storage + "csinodes", event_line(type, named(k8s::CsiNode()))},
        {storage + "csidrivers", event_line(type, named(k8s::CsiDriver()))},
        {storage + "csistoragecapacities", event_line(type, named(capacity))},
        {storage + "volumeattachments", event_line(type, named(k8s::VolumeAttachment()))}};
  };
  IntakeBench bench;
  std::map<std::string, std::shared_ptr<tests::FakeCall>> streams;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    const std::string& target = call->request().target;
    const std::string path = target.substr(0, target.find('?'));
    call->open();
    if (const auto added = lines("ADDED"); added.contains(path)) call->send(added.at(path));
    call->send(std::string(kInitialEventsEnd));
    streams[path] = call;
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  CHECK(bench.synced);
  for (const auto& [path, line] : lines("DELETED")) streams.at(path)->send(line);
  bench.loop.run_ready();
  // "StorageClass x", "-CSIStorageCapacity ns/x"
  std::vector<std::string> got;
  for (const sched::Event& each : bench.events) {
    got.push_back(std::visit(
        []<typename EventType>(const EventType& what) -> std::string {
          if constexpr (requires { what.object; }) {
            using Object = std::decay_t<decltype(what.object)>;
            return std::string(sched::kWatched<Object>.word) + " " + what.object.metadata.name;
          } else if constexpr (requires { what.namespace_; }) {
            return "-" + what.namespace_ + "/" + what.name;
          } else {
            return "another";
          }
        },
        each));
  }
  std::sort(got.begin(), got.end());
  CHECK(got == std::vector<std::string>{"-/x", "-/x", "-/x", "-/x", "-/x", "-default/x", "-ns/x",
                                        "CSIDriver x", "CSINode x", "CSIStorageCapacity x",
                                        "Claim x", "StorageClass x", "Volume x",
                                        "VolumeAttachment x"});
}

TEST_CASE("what selects pods is watched where a profile reads it alone") {
  const std::vector<std::string> paths = {"/api/v1/services", "/api/v1/replicationcontrollers",
                                          "/apis/apps/v1/replicasets",
                                          "/apis/apps/v1/statefulsets"};
  const auto asked = [&](const IntakeBench& bench) {
    std::vector<std::string> found;
    for (const std::string& path : paths) {
      const auto& seen = bench.transport.seen();
      if (std::any_of(seen.begin(), seen.end(), [&](const std::string& each) {
            return each.find(path + "?") != std::string::npos;
          })) {
        found.push_back(path);
      }
    }
    return found;
  };
  IntakeBench without(sched::kAnyChange & ~sched::kSelectorChanged);
  without.serve();
  without.intake.start(0s);
  without.loop.advance(1s);
  CHECK(without.synced);
  CHECK(asked(without).empty());

  IntakeBench with(sched::kSelectorChanged);
  with.serve();
  with.intake.start(0s);
  with.loop.advance(1s);
  CHECK(with.synced);
  CHECK(asked(with) == paths);
}

TEST_CASE("disruption budgets are watched where a profile preempts alone") {
  k8s::PodDisruptionBudget budget;
  budget.metadata.name = "web";
  budget.metadata.namespace_ = "ns";
  budget.metadata.uid = "u";
  budget.selector = k8s::LabelSelector{.match_labels = {{"app", "web"}}, .match_expressions = {}};
  budget.disruptions_allowed = 1;
  budget.disrupted_pods = {"web-0"};
  k8s::PodDisruptionBudget whole = budget;
  whole.metadata.labels.set("app", "web");
  whole.metadata.annotations.set("kubectl.kubernetes.io/last-applied-configuration", "{…}");
  const auto started = [&whole](IntakeBench& bench) {
    bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
      call->open();
      if (call->request().target.starts_with("/apis/policy/v1/poddisruptionbudgets?")) {
        call->send(event_line("ADDED", whole));
        call->send(event_line("DELETED", whole));
      }
      call->send(std::string(kInitialEventsEnd));
    });
    bench.intake.start(0s);
    bench.loop.advance(1s);
    CHECK(bench.synced);
  };
  IntakeBench without(sched::kAnyChange);
  started(without);
  CHECK(without.events.empty());

  IntakeBench with(0, true);
  started(with);
  REQUIRE(with.events.size() == 3);
  auto got = std::get<event::DisruptionBudgetUpserted>(with.events[0]).object;
  got.metadata.resource_version.clear();
  CHECK(got == budget);
  const auto& gone = std::get<event::DisruptionBudgetDeleted>(with.events[1]);
  CHECK(gone.namespace_ == "ns");
  CHECK(gone.name == "web");
  CHECK(std::get<event::DisruptionBudgetsReadable>(with.events[2]).readable);
}

TEST_CASE("after any outage the cluster is looked at again within seconds of its end") {
  IntakeBench bench;
  bool away = true;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    if (away) return call->respond(503, "{}");
    call->open();
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  for (int second = 0; second < 600; ++second) bench.loop.advance(1s);
  CHECK_FALSE(bench.synced);
  away = false;
  bench.loop.advance(10s);
  CHECK(bench.synced);
}

TEST_CASE("of failed pods those that kubelets rejected come as events, and nothing else") {
  const auto failed_pod = [](const char* name, const char* reason) {
    return tests::pod(name).gpus(1).on("n").started_at(k8s::Timestamp(7s)).failed(reason).object();
  };
  IntakeBench bench;
  bench.failed = {failed_pod("rejected", "UnexpectedAdmissionError"),
                  failed_pod("evicted", "Evicted")};
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.synced);
  REQUIRE(bench.events.size() == 1);
  const auto& rejected = std::get<event::PodRejected>(bench.events[0]);
  CHECK(rejected.pod.name == "rejected");
  CHECK(rejected.node == "n");
  CHECK(rejected.reason == "UnexpectedAdmissionError");
  CHECK(rejected.at == k8s::Timestamp(7s));
  const k8s::Pod late = failed_pod("late", "OutOfnvidia.com/gpu");
  bench.failed_stream->send(event_line("ADDED", late));
  bench.failed_stream->send(event_line("DELETED", late));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::PodRejected>(bench.events[1]).pod.name == "late");
  CHECK(bench.seen_pods.empty());
}
