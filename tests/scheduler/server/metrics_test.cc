#include "scheduler/server/metrics.h"

#include "tests/support/catch.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using sched::server::AttemptResult;
using sched::server::Metrics;

namespace {

void check_has(const Metrics& metrics, const std::string& line) {
  CHECK_THAT(metrics.text(), Catch::Contains(line + "\n"));
}

}  // namespace

TEST_CASE("attempts and durations by result and profile") {
  Metrics metrics({"a", "b"});
  metrics.attempt("a", AttemptResult::kScheduled, 3ms);
  metrics.attempt("a", AttemptResult::kScheduled, 3ms);
  metrics.attempt("b", AttemptResult::kError, 1s);
  metrics.attempt("unknown", AttemptResult::kError, 1s);
  check_has(metrics, R"(scheduler_schedule_attempts_total{profile="a",result="scheduled"} 2)");
  check_has(metrics, R"(scheduler_schedule_attempts_total{profile="a",result="unschedulable"} 0)");
  check_has(metrics, R"(scheduler_schedule_attempts_total{profile="b",result="error"} 1)");
  check_has(metrics, R"(scheduler_scheduling_attempt_duration_seconds_bucket)"
                     R"({profile="a",result="scheduled",le="0.002"} 0)");
  check_has(metrics, R"(scheduler_scheduling_attempt_duration_seconds_bucket)"
                     R"({profile="a",result="scheduled",le="0.004"} 2)");
  CHECK_THAT(metrics.text(), !Catch::Contains("unknown"));
}

TEST_CASE("the accounts of quotas, as long as they are there") {
  using k8s::Quantity;
  Metrics metrics({"a"});
  CHECK_THAT(metrics.text(), !Catch::Contains("gpu_scheduler_quota_gpus"));
  sched::QuotaStatus vision{.name = "vision", .uid = "u", .status = {}};
  vision.status.quotas = {{.gpu_type = "H100",
                           .use = {.guaranteed = Quantity::of(8),
                                   .used = Quantity::of_milli(9'500),
                                   .borrowed = Quantity::of_milli(1'500),
                                   .pending = Quantity::of(2)}}};
  metrics.quotas({.changed = {vision}, .gone = {}});
  const std::string series = R"(gpu_scheduler_quota_gpus{gpu_type="H100",quota="vision",state=)";
  check_has(metrics, series + R"("guaranteed"} 8)");
  check_has(metrics, series + R"("used"} 9.5)");
  check_has(metrics, series + R"("borrowed"} 1.5)");
  check_has(metrics, series + R"("lent"} 0)");
  check_has(metrics, series + R"("pending"} 2)");
  vision.status.quotas[0].use.used = Quantity::of(1);
  metrics.quotas({.changed = {vision}, .gone = {}});
  check_has(metrics, series + R"("used"} 1)");
  vision.status.quotas[0].gpu_type = "*";
  metrics.quotas({.changed = {vision}, .gone = {}});
  CHECK_THAT(metrics.text(), !Catch::Contains("H100"));
  sched::QuotaStatus speech = vision;
  speech.name = "speech";
  metrics.quotas({.changed = {speech}, .gone = {}});
  check_has(metrics, R"(quota="vision",state="used"} 1)");
  metrics.quotas({.changed = {}, .gone = {"vision"}});
  CHECK_THAT(metrics.text(), !Catch::Contains("vision"));
  check_has(metrics, R"(quota="speech",state="used"} 1)");
}

TEST_CASE("who holds the lease") {
  Metrics metrics({"a"});
  CHECK_THAT(metrics.text(), !Catch::Contains("leader_election_master_status"));
  metrics.leads("gpu-scheduler", false);
  check_has(metrics, R"(leader_election_master_status{name="gpu-scheduler"} 0)");
  metrics.leads("gpu-scheduler", true);
  check_has(metrics, R"(leader_election_master_status{name="gpu-scheduler"} 1)");
}

TEST_CASE("the recording of the last hour: whether it is kept, and what it has") {
  Metrics metrics({"gpu-scheduler"});
  CHECK_THAT(metrics.text(), !Catch::Contains("gpu_scheduler_flight_recording"));
  metrics.flight_recording(
      {.recording = true, .bytes = 4096, .span = std::chrono::milliseconds(1500), .lost = 3});
  check_has(metrics, "gpu_scheduler_flight_recording 1");
  check_has(metrics, "gpu_scheduler_flight_recording_bytes 4096");
  check_has(metrics, "gpu_scheduler_flight_recording_seconds 1.5");
  check_has(metrics, "gpu_scheduler_flight_recording_lost_total 3");
  metrics.flight_recording({.recording = false, .lost = 3});
  check_has(metrics, "gpu_scheduler_flight_recording 0");
  check_has(metrics, "gpu_scheduler_flight_recording_lost_total 3");
}

TEST_CASE("the number of the last decision") {
  Metrics metrics({"gpu-scheduler"});
  check_has(metrics, "gpu_scheduler_last_decision 0");
  metrics.last_decision(41);
  check_has(metrics, "gpu_scheduler_last_decision 41");
}

TEST_CASE("whether there is a recording, and whether it goes on") {
  Metrics metrics({"a"});
  CHECK_THAT(metrics.text(), !Catch::Contains("gpu_scheduler_recording"));
  metrics.recording(true);
  check_has(metrics, "gpu_scheduler_recording 1");
  metrics.recording(false);
  check_has(metrics, "gpu_scheduler_recording 0");
}

TEST_CASE("pending pods by queue") {
  Metrics metrics({"a"});
  metrics.pending({.active = 1, .backoff = 2, .unschedulable = 3, .gated = 4});
  check_has(metrics, R"(scheduler_pending_pods{queue="active"} 1)");
  check_has(metrics, R"(scheduler_pending_pods{queue="backoff"} 2)");
  check_has(metrics, R"(scheduler_pending_pods{queue="unschedulable"} 3)");
  check_has(metrics, R"(scheduler_pending_pods{queue="gated"} 4)");
}

TEST_CASE("pods that enter queues, by queue and event; a refused pod is unschedulable") {
  using sched::QueueEvent;
  using sched::QueuePlace;
  Metrics metrics({"a"});
  sched::QueueEntries all{};
  const auto entries = [&](QueuePlace place, QueueEvent event) -> std::uint64_t& {
    return all[static_cast<std::size_t>(place)][static_cast<std::size_t>(event)];
  };
  entries(QueuePlace::kActive, QueueEvent::kPodAdd) = 9;
  entries(QueuePlace::kParked, QueueEvent::kAttemptFailure) = 4;
  entries(QueuePlace::kRefused, QueueEvent::kAttemptFailure) = 2;
  entries(QueuePlace::kBackoff, QueueEvent::kPodUpdate) = 1;
  metrics.queue_entries(all);
  metrics.queue_entries(all);
  const std::string series = "scheduler_queue_incoming_pods_total{event=";
  check_has(metrics, series + R"("PodAdd",queue="active"} 9)");
  check_has(metrics, series + R"("ScheduleAttemptFailure",queue="unschedulable"} 6)");
  check_has(metrics, series + R"("PodUpdate",queue="backoff"} 1)");
  check_has(metrics, series + R"("PodAdd",queue="gated"} 0)");
}

TEST_CASE("binds and what comes before them, as extension points") {
  Metrics metrics({"a"});
  metrics.extension_point("Bind", "a", true, 300us);
  metrics.extension_point("Bind", "a", false, 1s);
  metrics.extension_point("PreBind", "a", true, 1ms);
  const std::string series = "scheduler_framework_extension_point_duration_seconds_";
  check_has(metrics, series + R"(bucket{extension_point="Bind",profile="a",status="Success",)" +
                         R"(le="0.0002"} 0)");
  check_has(metrics, series + R"(bucket{extension_point="Bind",profile="a",status="Success",)" +
                         R"(le="0.0004"} 1)");
  check_has(metrics, series + R"(count{extension_point="Bind",profile="a",status="Error"} 1)");
  check_has(metrics, series + R"(count{extension_point="PreBind",profile="a",status="Success"} 1)");
}

TEST_CASE("who refuses, who takes GPUs without asking, and how old the watches are") {
  Metrics metrics({"a"});
  check_has(metrics, "scheduler_preemption_attempts_total 0");
  metrics.preempts(3);
  metrics.preempts(0);
  check_has(metrics, "scheduler_preemption_attempts_total 2");
  check_has(metrics, "scheduler_preemption_victims_bucket{le=\"2\"} 0");
  check_has(metrics, "scheduler_preemption_victims_bucket{le=\"4\"} 1");
  check_has(metrics, "scheduler_preemption_victims_count 1");
  check_has(metrics, "gpu_scheduler_reclaimed_pods_total 0");
  metrics.reclaimed();
  check_has(metrics, "gpu_scheduler_reclaimed_pods_total 1");
  check_has(metrics, "gpu_scheduler_foreign_gpu_pods_total 0");
  metrics.refused({"NodeResourcesFit", "TaintToleration"});
  metrics.refused({"NodeResourcesFit"});
  metrics.foreign_gpu_pod();
  metrics.watch_age("pods", 1500ms);
  check_has(metrics, R"(gpu_scheduler_refusals_total{plugin="NodeResourcesFit"} 2)");
  check_has(metrics, R"(gpu_scheduler_refusals_total{plugin="TaintToleration"} 1)");
  check_has(metrics, "gpu_scheduler_foreign_gpu_pods_total 1");
  check_has(metrics, R"(gpu_scheduler_watch_age_seconds{kind="pods"} 1.5)");
}

TEST_CASE("pods by the attempts they took") {
  Metrics metrics({"a"});
  metrics.pod_scheduled(1, 20ms);
  metrics.pod_scheduled(99, 20ms);
  check_has(metrics, R"(scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1)");
  check_has(metrics, R"(scheduler_pod_scheduling_sli_duration_seconds_count{attempts="15+"} 1)");
  check_has(metrics, R"(scheduler_pod_scheduling_attempts_count 2)");
}

TEST_CASE("API requests by verb and code") {
  Metrics metrics({"a"});
  metrics.request("LIST", 200, 1ms);
  metrics.request("LIST", 410, 1ms);
  metrics.request("POST", 0, 1ms);
  check_has(metrics, R"(rest_client_requests_total{code="200",method="GET",verb="LIST"} 1)");
  check_has(metrics, R"(rest_client_requests_total{code="410",method="GET",verb="LIST"} 1)");
  check_has(metrics, R"(rest_client_requests_total{code="<error>",method="POST",verb="POST"} 1)");
  check_has(metrics, R"(rest_client_request_duration_seconds_count{verb="LIST"} 2)");
}

TEST_CASE("event totals are told once") {
  Metrics metrics({"a"});
  metrics.events({.written = 5, .joined = 2, .dropped = 1});
  metrics.events({.written = 7, .joined = 2, .dropped = 1});
  check_has(metrics, R"(gpu_scheduler_events_total{outcome="written"} 7)");
  check_has(metrics, R"(gpu_scheduler_events_total{outcome="joined"} 2)");
  check_has(metrics, R"(gpu_scheduler_events_total{outcome="dropped"} 1)");
}

TEST_CASE("what is the matter with GPUs") {
  Metrics metrics({"a"});
  metrics.gpu_figures(
      {.nodes_backed_off = 2, .rejected_pods = 7, .repartitions = 1, .repartition_pods = 4});
  metrics.gpu_figures(
      {.nodes_backed_off = 1, .rejected_pods = 9, .repartitions = 0, .repartition_pods = 0});
  check_has(metrics, "gpu_scheduler_nodes_backed_off 1");
  check_has(metrics, "gpu_scheduler_rejected_pods_total 9");
  check_has(metrics, "gpu_scheduler_mig_repartitions_advised 0");
  check_has(metrics, "gpu_scheduler_mig_repartition_pods 0");
}

TEST_CASE("GPUs and waiting pods, as long as there are any") {
  using sched::GpusClosed;
  using sched::GpuTotals;
  Metrics metrics({"a"});
  CHECK_THAT(metrics.text(), !Catch::Contains("gpu_scheduler_gpus"));
  const sched::Time now{1'000s};
  GpuTotals totals;
  totals.forms = {{"H100", "", 10, 3, 17, {{GpusClosed::kCordoned, 5}}, 8, 1}};
  using Queue = GpuTotals::Queue;
  using Reason = GpuTotals::Reason;
  totals.waiting[{Queue::kUnschedulable, Reason::kNode, "H100"}] = {2, 16, now - 90s};
  totals.waiting[{Queue::kUnschedulable, Reason::kQuota, "any"}] = {1, 1, now - 30s};
  totals.free_by_cause["H100"] = {0, 4.5, 12.5, 0, 0, 0, 0};
  totals.namespaces = {{"ml", 7}};
  totals.other_namespaces = 3;
  totals.quotas = {{"vision", {2, now - 40s}}, {"idle", {0, {}}}};
  metrics.gpu_totals(totals, now);
  const std::string series = R"(gpu_scheduler_gpus{form="",gpu_type="H100",state=)";
  check_has(metrics, series + R"("used"} 10)");
  check_has(metrics, series + R"("held"} 3)");
  check_has(metrics, series + R"("free"} 17)");
  check_has(metrics, series + R"("cordoned"} 5)");
  check_has(metrics, series + R"("backed_off"} 0)");
  check_has(metrics, R"(gpu_scheduler_gpu_largest_block{form="",gpu_type="H100"} 8)");
  check_has(metrics, R"(gpu_scheduler_gpu_whole_nodes_free{form="",gpu_type="H100"} 1)");
  const std::string waiting = R"({gpu_type="H100",queue="unschedulable",reason="node"})";
  check_has(metrics, "gpu_scheduler_waiting_pods" + waiting + " 2");
  check_has(metrics, "gpu_scheduler_waiting_gpus" + waiting + " 16");
  check_has(metrics, R"(gpu_scheduler_oldest_wait_seconds{queue="unschedulable"} 90)");

  check_has(metrics, R"(gpu_scheduler_free_gpus{gpu_type="H100",use="usable"} 12.5)");
  check_has(metrics, R"(gpu_scheduler_free_gpus{gpu_type="H100",use="lack_gpu"} 4.5)");
  check_has(metrics, R"(gpu_scheduler_namespace_gpus{namespace="ml"} 7)");
  check_has(metrics, R"(gpu_scheduler_namespace_gpus{namespace=""} 3)");
  check_has(metrics, R"(gpu_scheduler_quota_head_wait_seconds{quota="vision"} 40)");
  check_has(metrics, R"(gpu_scheduler_quota_head_wait_seconds{quota="idle"} 0)");
  check_has(metrics, R"(gpu_scheduler_quota_holds{quota="vision"} 2)");

  totals = {};
  totals.forms = {{"L4", "", 0, 0, 1, {}, 1, 1}};
  metrics.gpu_totals(totals, now);
  CHECK_THAT(metrics.text(), !Catch::Contains("H100") && !Catch::Contains("vision"));
  check_has(metrics, R"(gpu_scheduler_oldest_wait_seconds{queue="unschedulable"} 0)");
  check_has(metrics, R"(gpu_scheduler_gpus{form="",gpu_type="L4",state="free"} 1)");
  metrics.no_gpu_totals();
  CHECK_THAT(metrics.text(), !Catch::Contains("gpu_scheduler_gpus{") &&
                                 !Catch::Contains("gpu_scheduler_oldest_wait_seconds{"));
}

TEST_CASE("what the process takes, and its version") {
  Metrics metrics({"a"}, "1.2.3+abc");
  check_has(metrics, R"(gpu_scheduler_build_info{version="1.2.3+abc"} 1)");
  metrics.process({.cpu_seconds = 2.5,
                   .start_time = 1'000,
                   .resident_bytes = 4096,
                   .open_files = 7,
                   .most_open_files = 1024});
  metrics.process({.cpu_seconds = 3.5,
                   .start_time = 1'000,
                   .resident_bytes = 8192,
                   .open_files = 8,
                   .most_open_files = 1024});
  check_has(metrics, "process_cpu_seconds_total 3.5");
  check_has(metrics, "process_resident_memory_bytes 8192");
  check_has(metrics, "process_start_time_seconds 1000");
  check_has(metrics, "process_open_fds 8");
  check_has(metrics, "process_max_fds 1024");
}

TEST_CASE("the figures of this very process are of the size that they can be") {
  const auto figures = sched::server::process_figures();
  REQUIRE(figures);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  CHECK(figures->start_time <= std::chrono::duration<double>(now).count() + 1);
  CHECK(figures->start_time > std::chrono::duration<double>(now).count() - 24 * 3600);
  CHECK(figures->cpu_seconds >= 0);
  CHECK(figures->resident_bytes > 1'000'000);
  CHECK(figures->open_files >= 3);
  CHECK(figures->open_files <= figures->most_open_files);
  const auto more = [&] {
    const int file = ::open("/dev/null", O_RDONLY);
    const auto now_open = sched::server::process_figures()->open_files;
    ::close(file);
    return now_open;
  }();
  CHECK(more == figures->open_files + 1);
}

TEST_CASE("objects that cannot be read, by kind") {
  Metrics metrics({"a"});
  metrics.unreadable("pods", 2);
  metrics.unreadable("nodes", 0);
  check_has(metrics, R"(gpu_scheduler_unreadable_objects{kind="pods"} 2)");
  check_has(metrics, R"(gpu_scheduler_unreadable_objects{kind="nodes"} 0)");
}
