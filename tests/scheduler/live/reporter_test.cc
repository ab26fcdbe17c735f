// What pods, people and dashboards are told, as the API server and a scrape see it.
#include "scheduler/live/writes/reporter.h"

#include "k8s-client/client.h"
#include "tests/scheduler/live/captured_log.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"
#include "tests/support/request_body.h"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::BindEnd;
namespace decision = sched::decision;

constexpr sched::Time kEngineNow{std::chrono::microseconds(1'767'225'600'000'000)};
// The system's clock was set an hour forward since the start.
constexpr sched::Time kWallNow = kEngineNow + 1h;

struct ReporterBench {
  ReporterBench() {
    k8s::Pod pending;  // as the watch shows it
    pending.metadata.uid = "uid-a";
    statuses.observed(pending);
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) {
      bodies.push_back(call->request().target + " " + tests::body_of(call->request()).dump());
      call->respond(201, "{}");
    });
  }
  // The requests sent so far with all of `parts` in path and body.
  [[nodiscard]] int requests_with(const std::vector<std::string>& parts) {
    loop.run_ready();
    int found = 0;
    for (const std::string& body : bodies) {
      bool all = true;
      for (const std::string& part : parts) all = all && body.find(part) != std::string::npos;
      if (all) ++found;
    }
    return found;
  }

  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  std::vector<std::string> bodies;
  k8s::Client client{transport, loop};
  std::vector<std::string> conditions;                  // "pod reason: message (generation)"
  std::vector<std::optional<std::string>> nominations;  // written beside them
  sched::live::StatusWriter statuses{
      loop,
      [this](const k8s::Pod& pod, const k8s::PodScheduledCondition& condition, auto) {
        conditions.push_back(pod.metadata.name + " " + condition.status + " " + condition.reason +
                             ": " + condition.message + " (" +
                             std::to_string(condition.observed_generation) + ")");
        nominations.push_back(condition.nominated_node);
      },
      {},
      {.binds_wait = [] { return false; }, .on_problem = [](const k8s::Error&, auto) {}}};
  k8s::EventRecorder events{client, loop, {}, [] { return true; }};
  sched::server::Metrics metrics{{"gpu-scheduler"}};
  sched::live::Reporter reporter{
      statuses,
      events,
      metrics,
      "host-1",
      {.engine = [] { return kEngineNow; }, .wall = [] { return kWallNow; }}};
};

decision::Bind bind() {
  decision::Bind bind;
  bind.pod = {"ml", "a", "uid-a"};
  bind.scheduler_name = "gpu-scheduler";
  bind.generation = 4;
  bind.node = "n1";
  bind.attempts = 1;
  bind.queued_since = kEngineNow - 1s;
  return bind;
}

decision::Evict evict() {
  return {.plan = 7,
          .pod = {"ml", "a", "uid-a"},
          .scheduler_name = "gpu-scheduler",
          .generation = 3,
          .node = "n1",
          .victims = {{{"web", "v", "uid-v"}}, {{"web", "w", "uid-w"}}},
          .message =
              "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: "
              "preempting 2 victims",
          .details = "asked 4, free 1 of 8.",
          .attempts = 2};
}

}  // namespace

TEST_CASE("a bound pod: kube-scheduler's Scheduled event, and its figures") {
  ReporterBench bench;
  bench.reporter.bind_ended({bind(), BindEnd::kBound, ""}, 2ms);
  CHECK(bench.requests_with({"/apis/events.k8s.io/v1/namespaces/ml/events", "\"Scheduled\"",
                             "\"Normal\"", "\"Binding\"", "Successfully assigned ml/a to n1",
                             "\"gpu-scheduler\"", "\"gpu-scheduler-host-1\"", "uid-a",
                             "\"2026-01-01T01:00:00.000000Z\""}) == 1);
  CHECK_THAT(bench.metrics.text(),
             Catch::Contains(R"(pod_scheduling_sli_duration_seconds_sum{attempts="1"} 1)"));
  CHECK(bench.conditions.empty());
  CHECK_THAT(bench.metrics.text(), Catch::Contains(R"(result="scheduled"} 1)"));
}

TEST_CASE("an unschedulable pod: condition and event with the message and its numbers") {
  ReporterBench bench;
  decision::Unschedulable no;
  no.pod = {"ml", "a", "uid-a"};
  no.scheduler_name = "gpu-scheduler";
  no.generation = 3;
  no.message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  no.details = "asked 4, free 1 of 8.";
  bench.reporter.unschedulable(no, 1ms);
  CHECK(bench.conditions ==
        std::vector<std::string>{"a False Unschedulable: 0/1 nodes are available: 1 Insufficient "
                                 "nvidia.com/gpu. asked 4, free 1 of 8. (3)"});
  CHECK(bench.requests_with({"/events", "\"FailedScheduling\"", "\"Warning\"", "\"Scheduling\"",
                             "asked 4, free 1 of 8."}) == 1);
  CHECK_THAT(bench.metrics.text(), Catch::Contains(R"(result="unschedulable"} 1)"));
}

TEST_CASE("a pod for which others are evicted waits, and is nominated") {
  ReporterBench bench;
  tests::CapturedLog log;
  bench.reporter.evicting(evict(), 1ms, 41);
  CHECK(log.take() ==
        "evicting pod=ml/a uid=uid-a node=n1 victims=2 message=\"0/1 nodes are available: 1 "
        "Insufficient nvidia.com/gpu. preemption: preempting 2 victims\" attempts=2 "
        "decision=41\n");
  CHECK(bench.conditions ==
        std::vector<std::string>{
            "a False Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "
            "preemption: preempting 2 victims. asked 4, free 1 of 8. (3)"});
  CHECK(bench.nominations == std::vector<std::optional<std::string>>{"n1"});
  CHECK(bench.requests_with({"/namespaces/ml/events", "\"FailedScheduling\"", "\"Warning\"",
                             "preempting 2 victims. asked 4", "\"41\""}) == 1);
  CHECK_THAT(bench.metrics.text(), Catch::Contains(R"(result="unschedulable"} 1)"));
  CHECK_THAT(bench.metrics.text(), Catch::Contains("scheduler_preemption_attempts_total 1\n"));
  CHECK_THAT(bench.metrics.text(), Catch::Contains("scheduler_preemption_victims_sum 2\n"));
}

TEST_CASE("nobody is told that pods are evicted for one that waits no longer") {
  ReporterBench bench;
  tests::CapturedLog log;
  bench.statuses.forget("uid-a");
  bench.reporter.evicting(evict(), 1ms);
  CHECK(log.take().empty());
  CHECK(bench.requests_with({}) == 0);
  CHECK_THAT(bench.metrics.text(), Catch::Contains("scheduler_preemption_attempts_total 0\n"));
}

TEST_CASE("a victim that is reclaimed is told so, and counted") {
  ReporterBench bench;
  tests::CapturedLog log;
  bench.reporter.evicted(evict(), {{"web", "v", "uid-v"}, true});
  CHECK(log.take() == "evicted pod=web/v uid=uid-v node=n1 for=ml/a by=reclaim\n");
  CHECK(bench.requests_with({"/namespaces/web/events", "\"Preempted\"",
                             "\"Preempted by pod uid-a on node n1, to reclaim GPUs that its quota "
                             "has borrowed\""}) == 1);
  CHECK_THAT(bench.metrics.text(), Catch::Contains("gpu_scheduler_reclaimed_pods_total 1\n"));
}

TEST_CASE("a victim: kube-scheduler's Preempted event") {
  ReporterBench bench;
  tests::CapturedLog log;
  bench.reporter.evicted(evict(), {{"web", "v", "uid-v"}});
  CHECK(log.take() == "evicted pod=web/v uid=uid-v node=n1 for=ml/a by=priority\n");
  CHECK(bench.requests_with({"/namespaces/web/events", "\"Preempted\"", "\"Normal\"",
                             "\"Preempting\"", "uid-v", "\"Preempted by pod uid-a on node n1\""}) ==
        1);
  CHECK(bench.conditions.empty());
}

TEST_CASE("a pod that waits for room no more loses its nomination, where pods get any") {
  struct Case {
    const char* name;
    bool preempts;
    void (*report)(ReporterBench&);
  };
  const Case cases[] = {{"unschedulable", true,
                         [](ReporterBench& bench) {
                           decision::Unschedulable no;
                           no.pod = {"ml", "a", "uid-a"};
                           no.scheduler_name = "gpu-scheduler";
                           no.message = "no room";
                           bench.reporter.unschedulable(no, 1ms);
                         }},
                        {"not prepared", true,
                         [](ReporterBench& bench) {
                           decision::NotPrepared undone;
                           undone.pod = {"ml", "a", "uid-a"};
                           undone.scheduler_name = "gpu-scheduler";
                           undone.message = "deleting a pod of another namespace failed: HTTP 403";
                           bench.reporter.not_prepared(undone, 1ms);
                         }},
                        {"of another scheduler", false, [](ReporterBench& bench) {
                           decision::Unschedulable no;
                           no.pod = {"ml", "a", "uid-a"};
                           no.scheduler_name = "another";
                           no.message = "no room";
                           bench.reporter.unschedulable(no, 1ms);
                         }}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    ReporterBench bench;
    bench.reporter.nominates_for("gpu-scheduler");
    k8s::Pod nominated;
    nominated.metadata.uid = "uid-a";
    nominated.status.nominated_node_name = "n1";
    bench.statuses.observed(nominated);
    c.report(bench);
    REQUIRE(bench.nominations.size() == 1);
    CHECK(bench.nominations[0] == (c.preempts ? std::optional<std::string>("") : std::nullopt));
  }
}

TEST_CASE("a pod over its quota is not called unschedulable, which would call for nodes") {
  ReporterBench bench;
  decision::Unschedulable no;
  no.pod = {"ml", "a", "uid-a"};
  no.scheduler_name = "gpu-scheduler";
  no.generation = 3;
  no.message = "quota team: * needs 1, 4 of 4 in use, first in line; 1 more must be freed";
  no.reason = decision::Unschedulable::Reason::kGpuQuotaExceeded;
  bench.reporter.unschedulable(no, 1ms);
  CHECK(bench.conditions ==
        std::vector<std::string>{"a False GpuQuotaExceeded: quota team: * needs 1, 4 of 4 in use, "
                                 "first in line; 1 more must be freed (3)"});
  CHECK(bench.requests_with(
            {"/events", "\"FailedScheduling\"", "\"Warning\"", "quota team: * needs 1"}) == 1);
}

TEST_CASE("what a quota says is a sentence of its own") {
  ReporterBench bench;
  decision::Unschedulable no;
  no.pod = {"ml", "a", "uid-a"};
  no.scheduler_name = "gpu-scheduler";
  no.generation = 3;
  no.message = "quota team: * needs 2, 3 of 4 in use, first in line; 1 more must be freed";
  no.details = "There is room for 1 of the 2 pods that start together as group g.";
  no.reason = decision::Unschedulable::Reason::kGpuQuotaExceeded;
  bench.reporter.unschedulable(no, 1ms);
  CHECK(
      bench.conditions ==
      std::vector<std::string>{
          "a False GpuQuotaExceeded: quota team: * needs 2, 3 of 4 in use, first in line; 1 more "
          "must be freed. There is room for 1 of the 2 pods that start together as group g. (3)"});
}

TEST_CASE("a bind that the server refused is told; one that was overtaken is not") {
  ReporterBench bench;
  bench.reporter.bind_ended({bind(), BindEnd::kOvertaken, "the pod is gone"}, 2ms);
  CHECK(bench.conditions.empty());
  CHECK(bench.requests_with({"/events"}) == 0);
  bench.reporter.bind_ended({bind(), BindEnd::kFailed, "403 Forbidden"}, 2ms);
  CHECK(bench.conditions ==
        std::vector<std::string>{"a False SchedulerError: binding to node n1 failed: 403 Forbidden "
                                 "(4)"});
  CHECK(bench.requests_with({"\"FailedScheduling\"", "403 Forbidden"}) == 1);
  CHECK_THAT(bench.metrics.text(), Catch::Contains(R"(result="error"} 2)"));
}

TEST_CASE("a pod that has its node is not called unschedulable while its volumes are made") {
  ReporterBench bench;
  const decision::Prepare prepare{.plan = 7,
                                  .pod = {"ml", "a", "uid-a"},
                                  .scheduler_name = "gpu-scheduler",
                                  .generation = 4,
                                  .node = "n1",
                                  .writes = {}};
  // It says nothing: most pods are placed at once.
  bench.reporter.preparing(prepare);
  CHECK(bench.conditions.empty());

  k8s::Pod told;
  told.metadata.uid = "uid-a";
  told.status.conditions.push_back({.type = "PodScheduled",
                                    .status = "False",
                                    .reason = "Unschedulable",
                                    .message = "no room",
                                    .observed_generation = 3});
  bench.statuses.observed(told);
  bench.reporter.preparing(prepare);
  CHECK(bench.conditions ==
        std::vector<std::string>{"a False WaitingForVolumes: node n1 is kept for it until its "
                                 "volumes, and those of the pods that start with it, are there "
                                 "(4)"});
  CHECK(bench.nominations == std::vector<std::optional<std::string>>{std::nullopt});
  CHECK(bench.requests_with({"/events"}) == 0);
}

TEST_CASE("a pod that could not be prepared for its node is told why") {
  ReporterBench bench;
  bench.reporter.not_prepared({.pod = {"ml", "a", "uid-a"},
                               .scheduler_name = "gpu-scheduler",
                               .generation = 4,
                               .node = "n1",
                               .message = "provisioning failed for PVC \"c\""},
                              1ms);
  CHECK(bench.conditions ==
        std::vector<std::string>{
            "a False SchedulerError: not bound to node n1: provisioning failed for PVC \"c\" (4)"});
  CHECK(bench.requests_with({"/events", "\"FailedScheduling\"", "\"Warning\"",
                             "not bound to node n1: provisioning failed"}) == 1);
  CHECK_THAT(bench.metrics.text(), Catch::Contains(R"(result="error"} 1)"));
}

TEST_CASE("a bind whose outcome is unknown for long is told with the last answer") {
  ReporterBench bench;
  bench.reporter.bind_unsettled(bind(), "500 Internal Server Error: failed calling webhook");
  const std::string message =
      "binding to node n1 is not settled, and its capacity held until it is; the last answer: 500 "
      "Internal Server Error: failed calling webhook";
  CHECK(bench.conditions ==
        std::vector<std::string>{"a False SchedulerError: " + message + " (4)"});
  CHECK(bench.requests_with({"\"FailedScheduling\"", "\"Warning\"", message}) == 1);
}

TEST_CASE("a bind that was not sent is told where its namespace is stuck, without the node") {
  ReporterBench bench;
  bench.reporter.bind_ended({bind(), BindEnd::kGivenBack, ""}, 2ms);
  CHECK(bench.conditions.empty());
  CHECK(bench.requests_with({"/events"}) == 0);
  bench.reporter.bind_ended({bind(), BindEnd::kStuck, "others are not answered"}, 2ms);
  CHECK(bench.conditions ==
        std::vector<std::string>{
            "a False SchedulerError: not bound yet: others are not answered (4)"});
  CHECK(bench.requests_with({"\"FailedScheduling\"", "others are not answered"}) == 1);
}

TEST_CASE("a foreign pod on an owned node gets a warning of its own") {
  ReporterBench bench;
  bench.reporter.report(decision::ForeignGpuPod{{"other", "b", "uid-b"}, "gpu-scheduler", "n1", 2});
  CHECK(bench.requests_with({"/namespaces/other/events", "\"ForeignGpuPod\"", "\"Warning\"",
                             "takes 2 GPU(s) on node n1"}) == 1);
}

TEST_CASE("a pod whose scheduler's name is misspelt gets a warning") {
  ReporterBench bench;
  bench.reporter.report(
      decision::MisnamedScheduler{{"ml", "b", "uid-b"}, "gpu-schedular", "gpu-scheduler"});
  CHECK(bench.requests_with({"/namespaces/ml/events", "\"MisspeltSchedulerName\"", "\"Warning\"",
                             "schedulerName is gpu-schedular; is gpu-scheduler meant?"}) == 1);
}

TEST_CASE("a node that rejects pods gets events of its own, where kubectl looks for them") {
  ReporterBench bench;
  bench.reporter.report(
      decision::NodeBackedOff{.node = "n1",
                              .until = kEngineNow + 60s,
                              .in_a_row = 2,
                              .rejected = 3,
                              .reason = "UnexpectedAdmissionError",
                              .pod = {"ml", "a", "uid-a"},
                              .platform = "NVIDIA-L4, driver 570.124.06, CUDA 12.8"});
  CHECK(
      bench.requests_with(
          {"/namespaces/default/events", R"("kind":"Node")", R"("uid":"n1")", "\"RejectsGpuPods\"",
           "\"Warning\"", "\"Watching\"",
           "rejected 3 pod(s) with devices, the last with "
           "UnexpectedAdmissionError; gets no such pods for 60 s (2 in a row), or until one starts "
           "there; it has NVIDIA-L4, driver 570.124.06, CUDA 12.8\""}) == 1);
  bench.reporter.report(decision::NodeBackedOff{.node = "unlabelled",
                                                .until = kEngineNow + 60s,
                                                .in_a_row = 1,
                                                .rejected = 3,
                                                .reason = "UnexpectedAdmissionError",
                                                .pod = {"ml", "a", "uid-a"}});
  CHECK(bench.requests_with({"\"RejectsGpuPods\"", "unlabelled",
                             "(1 in a row), or until one starts there\""}) == 1);
  bench.reporter.report(decision::NodeReleased{.node = "n1", .proven = true});
  CHECK(bench.requests_with({"\"TakesGpuPodsAgain\"", "\"Normal\"", "has started there"}) == 1);
  bench.reporter.report(decision::NodeReleased{.node = "n2", .proven = false});
  CHECK(bench.requests_with({"\"TakesGpuPodsAgain\"", "n2", "it is on trial"}) == 1);
}

TEST_CASE("advice about a MIG configuration goes to every pod that it would place") {
  ReporterBench bench;
  bench.reporter.report(
      decision::MigRepartition{.scheduler_name = "gpu-scheduler",
                               .node = "n1",
                               .from = "",
                               .to = "all-3g.40gb",
                               .pods = {{"ml", "a", "uid-a"}, {"ml", "b", "uid-b"}},
                               .cost = "1 nvidia.com/gpu that no pod uses"});
  for (const char* uid : {"uid-a", "uid-b"}) {
    CHECK(bench.requests_with(
              {"/namespaces/ml/events", uid, "\"MigRepartitionAdvised\"",
               "would fit after a repartition: label node n1 with "
               "nvidia.com/mig.config=all-3g.40gb (now not labelled); it would place 2 pod(s) that "
               "wait and costs 1 nvidia.com/gpu that no pod uses"}) == 1);
  }
}

TEST_CASE("advice about a node with GPU pods says that they have to go before") {
  ReporterBench bench;
  bench.reporter.report(decision::MigRepartition{.scheduler_name = "gpu-scheduler",
                                                 .node = "n1",
                                                 .from = "all-disabled",
                                                 .to = "all-3g.40gb",
                                                 .pods = {{"ml", "a", "uid-a"}},
                                                 .cost = "8 nvidia.com/gpu",
                                                 .to_go = 2});
  CHECK(bench.requests_with({"uid-a",
                             "would fit after a repartition: once its 2 GPU pod(s) are drained or "
                             "have ended, label node n1 with"}) == 1);
}

TEST_CASE("nodes with complaints are counted until they have none") {
  ReporterBench bench;
  const auto nodes = [&](int count) {
    CHECK_THAT(bench.metrics.text(),
               Catch::Contains("gpu_scheduler_nodes_with_complaints " + std::to_string(count)));
  };
  nodes(0);
  bench.reporter.report(decision::NodeComplaint{.node = "n1", .complaints = {"x"}});
  bench.reporter.report(decision::NodeComplaint{.node = "n1", .complaints = {"x", "y"}});
  bench.reporter.report(decision::NodeComplaint{.node = "n2", .complaints = {"z"}});
  bench.reporter.report(
      decision::NodeComplaint{.node = "n3", .complaints = {"not known"}, .lasts = false});
  nodes(2);
  bench.reporter.report(decision::NodeComplaint{.node = "n1", .complaints = {}});
  nodes(1);
}

// Operators search the log for these lines; scripts cut them at the keys.
TEST_CASE("a decision's number is in its log line and in its event") {
  ReporterBench bench;
  tests::CapturedLog log;
  bench.reporter.bind_ended({bind(), BindEnd::kBound, ""}, 2ms, 41);
  CHECK_THAT(log.take(), Catch::EndsWith(" latency_ms=1000 decision=41\n"));
  CHECK(bench.requests_with({"/events", "gpu-scheduler.io/decision", "\"41\""}) == 1);
  decision::Unschedulable no;
  no.pod = {"ml", "b", "uid-b"};
  no.scheduler_name = "gpu-scheduler";
  bench.reporter.unschedulable(no, 1ms, 42);
  CHECK_THAT(log.take(), Catch::EndsWith(" decision=42\n"));
  CHECK(bench.requests_with({"/events", "gpu-scheduler.io/decision", "\"42\""}) == 1);
  bench.reporter.not_prepared({.pod = {"ml", "c", "uid-c"},
                               .scheduler_name = "gpu-scheduler",
                               .node = "n1",
                               .message = "slow"},
                              1ms, 43);
  CHECK_THAT(log.take(), Catch::EndsWith(" decision=43\n"));
  bench.reporter.bind_ended({bind(), BindEnd::kOvertaken, "the pod is gone"}, 2ms, 44);
  CHECK_THAT(log.take(), Catch::EndsWith(" decision=44\n"));
}

TEST_CASE("each decision is one line in the log") {
  ReporterBench bench;
  tests::CapturedLog log;
  spdlog::default_logger()->set_level(spdlog::level::debug);

  decision::Unschedulable no;
  no.pod = {"ml", "a", "uid-a"};
  no.message = "0/1 nodes are available";
  no.details = "asked 4";
  no.attempts = 3;
  bench.reporter.unschedulable(no, 1ms);
  CHECK(log.take() ==
        "unschedulable pod=ml/a uid=uid-a message=\"0/1 nodes are available\" details=\"asked 4\" "
        "attempts=3\n");

  decision::Bind scored = bind();
  scored.total_score = 870;
  scored.scores = {{"GpuPacking", 87, 10}, {"X", 0, 1}};
  scored.feasible_nodes = 2;
  scored.all_nodes = 5;
  bench.reporter.bind_ended({scored, BindEnd::kBound, ""}, 2ms);
  CHECK(log.take() ==
        "bound pod=ml/a uid=uid-a node=n1 score=870 scores=\"GpuPacking=87*10 X=0*1\" "
        "feasible=2/5 attempts=1 latency_ms=1000\n");
  bench.reporter.bind_ended({bind(), BindEnd::kFailed, "403 Forbidden"}, 2ms);
  CHECK(log.take() ==
        "bind failed pod=ml/a uid=uid-a node=n1 error=\"403 Forbidden\" attempts=1\n");
  bench.reporter.bind_ended({bind(), BindEnd::kStuck, "late"}, 2ms);
  CHECK(log.take() ==
        "bind not sent in time; decided anew pod=ml/a uid=uid-a node=n1 error=late attempts=1\n");
  bench.reporter.bind_unsettled(bind(), "500");
  CHECK(log.take() ==
        "bind not settled; its capacity stays held until it is pod=ml/a uid=uid-a node=n1 "
        "last_answer=500\n");

  bench.reporter.not_prepared({.pod = {"ml", "a", "uid-a"},
                               .scheduler_name = "gpu-scheduler",
                               .generation = 4,
                               .node = "n1",
                               .message = "no volume"},
                              1ms);
  CHECK(log.take() == "not prepared pod=ml/a uid=uid-a node=n1 why=\"no volume\"\n");

  bench.reporter.report(decision::ForeignGpuPod{{"other", "b", "uid-b"}, "gpu-scheduler", "n1", 2});
  CHECK(log.take() ==
        "a pod of another scheduler takes GPUs on a node that a profile owns pod=other/b uid=uid-b "
        "node=n1 gpus=2 profile=gpu-scheduler\n");
  bench.reporter.report(decision::NodeBackedOff{.node = "n1",
                                                .until = kEngineNow + 59'001ms,
                                                .in_a_row = 2,
                                                .rejected = 3,
                                                .reason = "UnexpectedAdmissionError",
                                                .pod = {"ml", "a", "uid-a"},
                                                .platform = "NVIDIA-L4"});
  CHECK(log.take() ==
        "node backed off: it rejects pods with devices node=n1 rejected=3 "
        "reason=UnexpectedAdmissionError last_pod=ml/a seconds=60 in_a_row=2 platform=NVIDIA-L4\n");
  bench.reporter.report(decision::NodeReleased{.node = "n1", .proven = true});
  CHECK(log.take() == "node released node=n1 why=\"a pod with devices has started there\"\n");
  bench.reporter.report(decision::MigRepartition{.scheduler_name = "gpu-scheduler",
                                                 .node = "n1",
                                                 .from = "all-disabled",
                                                 .to = "all-3g.40gb",
                                                 .pods = {{"ml", "a", "uid-a"}, {"ml", "b", "u"}},
                                                 .cost = "nothing"});
  CHECK(log.take() ==
        "another MIG configuration would place pods that wait node=n1 from=all-disabled "
        "to=all-3g.40gb pods=2 pods_to_go=0 first_pod=ml/a cost=nothing\n");
  bench.reporter.report(decision::NodeComplaint{.node = "n1", .complaints = {"x", "y"}});
  CHECK(log.take() == "a node's GPU labels need a look node=n1 complaints=\"x; y\"\n");
  bench.reporter.report(decision::NodeComplaint{.node = "n1", .complaints = {}});
  CHECK(log.take() == "a node's GPU labels are in order again node=n1\n");
}

TEST_CASE("what befalls single binds is no more than a detail in the log") {
  ReporterBench bench;
  tests::CapturedLog log;
  spdlog::default_logger()->set_level(spdlog::level::info);
  bench.reporter.bind_ended({bind(), BindEnd::kFailed, "403 Forbidden"}, 2ms);
  bench.reporter.bind_ended({bind(), BindEnd::kStuck, "late"}, 2ms);
  bench.reporter.bind_unsettled(bind(), "500");
  CHECK(log.take().empty());
  bench.reporter.bind_ended({bind(), BindEnd::kOvertaken, "the pod is gone"}, 2ms);
  CHECK(log.take() ==
        "bind failed pod=ml/a uid=uid-a node=n1 error=\"the pod is gone\" attempts=1\n");
}
