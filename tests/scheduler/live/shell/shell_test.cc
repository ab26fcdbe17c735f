// The whole shell before an API server: what flows between its parts, and how it ends.
#include "tests/scheduler/live/shell/shell_world.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"
#include "tests/support/paths.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
using Json = tests::ApiServer::Json;
using sched::live::Shell;
using sched::live::ShellOptions;
using tests::lease_of;
using tests::ShellWorld;

tests::PodBuilder ours(std::string_view name) {
  return tests::pod(name).in_namespace("ml").served_by("gpu-scheduler");
}

// The pod with a controller, which makes it anew.
k8s::Pod owned(k8s::Pod pod) {
  pod.metadata.owner_references.push_back({.api_version = "apps/v1",
                                           .kind = "ReplicaSet",
                                           .name = "r",
                                           .uid = "r",
                                           .controller = true});
  return pod;
}

const Json& scheduled_condition(const Json& patch) { return patch["status"]["conditions"][0]; }

constexpr const char* kLease = "/leases/gpu-scheduler";
constexpr const char* kOwnLease = "/leases/gpu-scheduler-store";

constexpr std::string_view kPreempts = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: gpu-scheduler
    plugins: {postFilter: {enabled: [{name: DefaultPreemption}]}}
)";

ShellOptions without_election(const ShellWorld& world) {
  ShellOptions options = world.options();
  options.configuration.leader_election.leader_elect = false;
  return options;
}

}  // namespace

TEST_CASE("a shell that leads binds pods, says why others wait, and gives the lease back") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ours("fits").gpus(1));
  world.api.has(ours("big").gpus(100));
  world.start();
  CHECK(world.write("POST", "/ml/pods/fits/binding")["target"]["name"] == "n1");
  const Json told = world.write("PATCH", "/ml/pods/big/status");
  CHECK(scheduled_condition(told)["reason"] == "Unschedulable");
  CHECK_THAT(scheduled_condition(told)["message"].get<std::string>(),
             Catch::Contains("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
  // Without preemption nobody is nominated.
  CHECK_FALSE(told["status"].contains("nominatedNodeName"));
  const Json scheduled = world.event("Scheduled", "fits");
  CHECK(scheduled["reportingController"] == "gpu-scheduler");
  CHECK(scheduled["metadata"]["annotations"].contains("gpu-scheduler.io/decision"));
  CHECK(world.event("FailedScheduling", "big")["type"] == "Warning");

  CHECK_THAT(world.probe("/livez?verbose"), Catch::Contains("[+]engine ok"));
  CHECK_THAT(world.probe("/readyz"), Catch::EndsWith("\r\n\r\nok"));
  const std::string ready = world.probe("/readyz?verbose");
  for (const char* check : {"engine", "watch-pods", "watch-failedpods", "watch-nodes",
                            "leader-election", "remembered-quotas", "shutdown"}) {
    CHECK_THAT(ready, Catch::Contains(std::string("[+]") + check + " ok\n"));
  }
  const std::string metrics = world.secure("/metrics");
  for (const char* line :
       {"gpu_scheduler_build_info{version=\"v9.9.9\"} 1",
        "leader_election_master_status{name=\"gpu-scheduler\"} 1",
        "scheduler_schedule_attempts_total{profile=\"gpu-scheduler\",result=\"scheduled\"} 1",
        "scheduler_schedule_attempts_total{profile=\"gpu-scheduler\",result=\"error\"} 0",
        "scheduler_pending_pods{queue=\"unschedulable\"} 1",
        "scheduler_queue_incoming_pods_total{event=\"PodAdd\",queue=\"active\"} 2",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Bind\","
        "profile=\"gpu-scheduler\",status=\"Success\"} 1",
        "rest_client_requests_total{code=\"201\",method=\"POST\",verb=\"POST\"} "}) {
    CHECK_THAT(metrics, Catch::Contains(line));
  }
  CHECK_THAT(world.secure("/explain?namespace=ml&pod=big"),
             Catch::StartsWith("HTTP/1.1 200 ") && Catch::Contains("Insufficient nvidia.com/gpu"));

  CHECK(world.shut_down() == Shell::End::kShutDown);
  CHECK(world.writes("POST", "/binding") == 1);
  CHECK(world.write("PUT", kLease, world.writes("PUT", kLease))["spec"]["holderIdentity"] == "");
  for (const char* line :
       {"connected server_version=v1.99.0", "synced", "scheduling begins", "bound pod=ml/fits",
        "GPU quotas are off", "shutting down reason=\"the test is over\"", "gave the lease back",
        "stopped binds_unsettled=0 writes_unsettled=0 events_dropped=0"}) {
    INFO(line);
    CHECK(world.has_line(line));
  }
  CHECK_FALSE(world.has_line("problem what=bind"));
}

TEST_CASE("figures that belong to other threads are there for the next scrape") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8).product("NVIDIA-H100-80GB-HBM3"));
  world.api.has_pod({{"metadata", {{"name", "odd"}, {"namespace", "ml"}, {"uid", "odd"}}},
                     {"spec", {{"containers", "none"}, {"nodeName", "n1"}}}});
  ShellOptions options = world.options();
  options.flight_recording.emplace();
  options.record_file = tests::scratch_dir() + "/recorded.jsonl";
  world.start(std::move(options));
  CHECK_THAT(world.line("an object cannot be read and is put aside"), Catch::Contains("kind=pods"));
  world.line("scheduling begins");
  // The page is made at most once a second.
  std::string metrics;
  const auto has = [&](const char* line) { return metrics.find(line) != std::string::npos; };
  const auto patience = std::chrono::steady_clock::now() + 1min;
  while (!has("gpu_scheduler_watch_age_seconds{kind=\"nodes\"}") || !has("gpu_scheduler_gpus{")) {
    REQUIRE(std::chrono::steady_clock::now() < patience);
    metrics = world.secure("/metrics");
  }
  CHECK(has("gpu_scheduler_unreadable_objects{kind=\"pods\"} 1"));
  CHECK(has("gpu_scheduler_unreadable_objects{kind=\"nodes\"} 0"));
  CHECK(has("gpu_scheduler_recording 1"));
  CHECK(has("gpu_scheduler_flight_recording 1"));
  CHECK(has("process_resident_memory_bytes "));
  CHECK_THAT(world.probe("/readyz"),
             Catch::Contains("[+]watch-pods ok, but objects that cannot be read, see the log: 1") &&
                 Catch::EndsWith("ok"));
}

TEST_CASE("a shell that stands by decides nothing, and says who leads") {
  ShellWorld world;
  world.api.has(lease_of("gpu-scheduler", "other_1"));
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ours("fits").gpus(1));
  world.start();
  CHECK_THAT(world.line("standing by "), Catch::Contains("leader=other_1"));
  world.line("synced");
  CHECK_THAT(world.probe("/readyz?verbose"),
             Catch::StartsWith("HTTP/1.1 200 ") && Catch::Contains("[+]leader-election ok"));
  CHECK_THAT(world.secure("/explain?namespace=ml&pod=fits"),
             Catch::StartsWith("HTTP/1.1 503 ") && Catch::Contains("\"other_1\" holds the lease"));
  CHECK_THAT(world.secure("/metrics"),
             Catch::Contains("leader_election_master_status{name=\"gpu-scheduler\"} 0"));
  CHECK(world.shut_down() == Shell::End::kShutDown);
  CHECK(world.api.writes().empty());
  CHECK_FALSE(world.has_line("scheduling begins"));
}

TEST_CASE("a shell whose lease is another's ends at once, and writes nothing any more") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8));
  ShellOptions options = world.options();
  options.configuration.leader_election.retry_period = 20ms;
  world.start(std::move(options));
  world.line("scheduling begins");
  world.api.has(lease_of("gpu-scheduler", "other_1"));
  CHECK(world.end() == Shell::End::kLost);
  CHECK(world.has_line("leadership lost"));
  CHECK_FALSE(world.has_line("shutting down"));
}

TEST_CASE("without election a shell begins at once if the one before has settled its binds") {
  ShellWorld world;
  world.api.has(lease_of("gpu-scheduler-store", ""));
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ours("fits").gpus(1));
  world.start(without_election(world));
  CHECK(world.write("POST", "/ml/pods/fits/binding")["target"]["name"] == "n1");
  CHECK(world.has_line("the scheduler before has settled its binds"));
  CHECK_THAT(world.probe("/readyz?verbose"), !Catch::Contains("leader-election"));
  world.event("Scheduled", "fits");
  CHECK(world.shut_down() == Shell::End::kShutDown);
  CHECK(world.write("PUT", kOwnLease, world.writes("PUT", kOwnLease))["spec"]["holderIdentity"] ==
        "");
  CHECK(world.writes("PUT", kLease) == 0);
}

TEST_CASE("without election a shell ends when the store has gone back in time") {
  ShellWorld world;
  world.api.answer_first([](const tests::ReceivedRequest& request) -> std::optional<std::string> {
    const bool is_mark = request.target.find(kOwnLease) != std::string::npos;
    if (!is_mark) return std::nullopt;
    const Json lease = {{"metadata",
                         {{"name", "gpu-scheduler-store"},
                          {"namespace", "gpu-scheduler"},
                          {"resourceVersion", request.method == "GET" ? "100" : "99"}}},
                        {"spec", {{"holderIdentity", "x"}}}};
    return tests::answer(200, "Content-Type: application/json\r\n", lease.dump());
  });
  world.start(without_election(world));
  CHECK(world.end() == Shell::End::kLost);
  CHECK(world.has_line("the state of the cluster is lost"));
}

TEST_CASE("a shell writes the status of quotas, and remembers them for the next process") {
  ShellWorld world;
  k8s::GpuQuota deleted = tests::gpu_quota("old").of("closed").line("*", 8);
  deleted.metadata.deletion_timestamp =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  k8s::ConfigMap memory;
  memory.metadata.namespace_ = "gpu-scheduler";
  memory.metadata.name = "gpu-scheduler-quotas";
  memory.data.set("old", k8s::encode(deleted));
  world.api.has(memory);
  world.api.has(tests::gpu_quota("q").of("ml").line("*", 1));
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ours("fits").gpus(1));
  world.api.has(ours("shut-out").in_namespace("closed").gpus(1));
  world.start();
  world.write("POST", "/ml/pods/fits/binding");
  CHECK_THAT(scheduled_condition(world.write("PATCH", "/closed/pods/shut-out/status"))["message"]
                 .get<std::string>(),
             Catch::Contains("quota old was deleted"));
  const Json status = world.write("PATCH", "/gpuquotas/q/status");
  CHECK(status["metadata"]["uid"] == "q-uid");
  CHECK(status["status"]["quotas"][0]["gpuType"] == "*");
  const Json remembered = world.write("PUT", "/configmaps/gpu-scheduler-quotas")["data"];
  CHECK(remembered.contains("old"));
  CHECK(remembered.contains("q"));
  CHECK(world.has_line("GPU quotas are in force"));
  CHECK_THAT(world.secure("/metrics"), Catch::Contains("gpu_scheduler_quota_gpus{"));
}

TEST_CASE("a shell evicts for a pod, and binds it when the victim is gone") {
  ShellWorld world;
  const k8s::Pod low = owned(ours("low").gpus(8).priority(1).on("n1"));
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(low);
  world.api.has(ours("high").gpus(8).priority(9));
  world.start(world.options(kPreempts));
  // Nominated by the evictor, or with the condition, whichever is first.
  CHECK(world.write("PATCH", "/ml/pods/high/status")["status"]["nominatedNodeName"] == "n1");
  const Json tried = world.write("DELETE", "/ml/pods/low");
  CHECK(tried["preconditions"]["uid"] == low.metadata.uid);
  CHECK(tried["dryRun"] == Json::array({"All"}));
  const Json marked = world.write("PATCH", "/ml/pods/low/status");
  CHECK(marked["metadata"]["uid"] == low.metadata.uid);
  CHECK(scheduled_condition(marked)["type"] == "DisruptionTarget");
  const Json deleted = world.write("DELETE", "/ml/pods/low", 2);
  CHECK(deleted["preconditions"]["uid"] == low.metadata.uid);
  CHECK_FALSE(deleted.contains("dryRun"));
  CHECK(world.event("Preempted", "low")["reportingController"] == "gpu-scheduler");
  CHECK(world.writes("POST", "/binding") == 0);
  world.api.gone(low);
  CHECK(world.write("POST", "/ml/pods/high/binding")["target"]["name"] == "n1");
  world.event("Scheduled", "high");
  CHECK(world.has_line("evicting pod=ml/high"));
  CHECK(world.has_line("room made pod=ml/high"));
  CHECK_THAT(world.secure("/metrics"), Catch::Contains("scheduler_preemption_attempts_total 1"));
}

TEST_CASE("a shell evicts the other victims when one ends whose call is to be repeated") {
  ShellWorld world;
  const k8s::Pod ends = owned(ours("ends").gpus(4).priority(1).on("n1"));
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ends);
  world.api.has(owned(ours("runs").gpus(4).priority(1).on("n1")));
  world.api.has(ours("high").gpus(8).priority(9));
  // To delete it is always tried again, thirty seconds later.
  world.api.answer_first([](const tests::ReceivedRequest& request) -> std::optional<std::string> {
    if (request.target.find("/pods/ends") == std::string::npos) return std::nullopt;
    if (request.method == "PATCH") {
      return tests::answer(404, "Content-Type: application/json\r\n",
                           R"({"kind": "Status", "code": 404, "reason": "NotFound"})");
    }
    return tests::answer(503, "Retry-After: 30\r\n", "");
  });
  world.start(world.options(kPreempts));
  world.write("DELETE", "/ml/pods/ends");
  world.write("DELETE", "/ml/pods/runs");
  world.api.gone(ends);
  CHECK_FALSE(world.write("DELETE", "/ml/pods/runs", 2).contains("dryRun"));
  CHECK(world.writes("DELETE", "/ml/pods/ends") == 1);
}

TEST_CASE("a shell writes what a pod's volumes need before its bind") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8));
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "example.com/disks";
  made.binding_mode = "WaitForFirstConsumer";
  world.api.has(made);
  k8s::StorageClass local;
  local.metadata.name = "local";
  local.provisioner = "kubernetes.io/no-provisioner";
  local.binding_mode = "WaitForFirstConsumer";
  world.api.has(local);
  k8s::PersistentVolume disk = tests::volume("disk");
  disk.storage_class = "local";
  disk.phase = "Available";
  disk.capacity_bytes = 1'000;
  disk.access_modes = {"ReadWriteOnce"};
  disk.node_affinity.emplace().terms.push_back(
      tests::term({tests::label("kubernetes.io/hostname").in({"n1"})}));
  world.api.has(disk);
  const auto claim_of = [](const char* name, const char* storage_class) {
    k8s::PersistentVolumeClaim claim = tests::claim(name, "");
    claim.metadata.namespace_ = "ml";
    claim.metadata.uid = name;
    claim.storage_class = storage_class;
    claim.phase = "Pending";
    claim.access_modes = {"ReadWriteOnce"};
    return claim;
  };
  world.api.has(claim_of("scratch", "made"));
  world.api.has(claim_of("data", "local"));
  k8s::Pod waited = ours("p").gpus(1).mounts_claim("scratch").mounts_claim("data");
  waited.status.conditions.push_back({.type = "PodScheduled",
                                      .status = "False",
                                      .reason = "Unschedulable",
                                      .message = "no room",
                                      .observed_generation = 1});
  world.api.has(waited);
  world.start();
  const Json told = world.write("PATCH", "/ml/pods/p/status");
  CHECK(scheduled_condition(told)["reason"] == "WaitingForVolumes");
  const Json selected = world.write("PATCH", "/ml/persistentvolumeclaims/scratch");
  CHECK(selected["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "n1");
  const Json reserved = world.write("PATCH", "/persistentvolumes/disk");
  CHECK(reserved["spec"]["claimRef"]["name"] == "data");
  CHECK(reserved["spec"]["claimRef"]["namespace"] == "ml");
  CHECK(reserved["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes");
  CHECK(world.writes("POST", "/binding") == 0);

  for (const char* name : {"scratch", "data"}) {
    k8s::PersistentVolumeClaim bound =
        claim_of(name, name == std::string("data") ? "local" : "made");
    const std::string volume = name == std::string("data") ? "disk" : "disk-2";
    bound.volume_name = volume;
    bound.phase = "Bound";
    bound.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
    bound.metadata.annotations.set("volume.kubernetes.io/selected-node", "n1");
    k8s::PersistentVolume with = disk;
    with.metadata.name = volume;
    with.metadata.uid = volume;
    with.phase = "Bound";
    with.claim_ref = {"ml", name, name};
    world.api.has(with);
    world.api.has(bound);
  }
  CHECK(world.write("POST", "/ml/pods/p/binding")["target"]["name"] == "n1");
  world.event("Scheduled", "p");
  CHECK_THAT(world.secure("/metrics"),
             Catch::Contains(
                 "scheduler_framework_extension_point_duration_seconds_count{"
                 "extension_point=\"PreBind\",profile=\"gpu-scheduler\",status=\"Success\"} 1"));
}

TEST_CASE("a bind with a lost answer is settled by the watch, though the pod cannot be read") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8));
  world.api.has(ours("p").gpus(1));
  world.api.answer_first([&](const tests::ReceivedRequest& request) -> std::optional<std::string> {
    const bool binds = request.target.find("/pods/p/binding") != std::string::npos;
    const bool reads = request.method == "GET" && request.target.ends_with("/pods/p");
    if (binds) world.api.has(ours("p").gpus(1).on("n1"));
    if (!binds && !reads) return std::nullopt;
    return tests::answer(500, "Content-Type: application/json\r\n",
                         R"({"kind": "Status", "code": 500, "message": "nothing is known"})");
  });
  world.start();
  world.event("Scheduled", "p");
  CHECK(world.writes("POST", "/ml/pods/p/binding") == 1);
  CHECK_THAT(world.secure("/metrics"),
             Catch::Contains("scheduler_framework_extension_point_duration_seconds_count{"
                             "extension_point=\"Bind\",profile=\"gpu-scheduler\","
                             "status=\"Success\"} 1"));
  CHECK(world.shut_down() == Shell::End::kShutDown);
  CHECK(world.has_line("stopped binds_unsettled=0"));
}

TEST_CASE("a bind that is refused is told, and the engine decides anew") {
  ShellWorld world;
  world.api.has(tests::node("n1").gpus(8));
  const k8s::Pod pod = ours("p").gpus(1);
  world.api.has(pod);
  std::atomic<int> binds = 0;  // on the threads of connections
  world.api.answer_first([&](const tests::ReceivedRequest& request) -> std::optional<std::string> {
    if (request.target.find("/binding") == std::string::npos || ++binds > 1) return std::nullopt;
    return tests::answer(403, "Content-Type: application/json\r\n",
                         R"({"kind": "Status", "code": 403, "message": "not by me"})");
  });
  world.start();
  const Json told = world.write("PATCH", "/ml/pods/p/status");
  CHECK(scheduled_condition(told)["reason"] == "SchedulerError");
  CHECK_THAT(scheduled_condition(told)["message"].get<std::string>(),
             Catch::StartsWith("binding to node n1 failed: ") && Catch::Contains("not by me"));
  CHECK_THAT(world.line("problem what=bind"), Catch::Contains("not by me"));
  world.write("POST", "/ml/pods/p/binding", 2);
  world.event("Scheduled", "p");
  CHECK_THAT(
      world.secure("/metrics"),
      Catch::Contains(
          "scheduler_schedule_attempts_total{profile=\"gpu-scheduler\",result=\"error\"} 1") &&
          Catch::Contains(
              "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Bind\","
              "profile=\"gpu-scheduler\",status=\"Error\"} 1"));
}

TEST_CASE("the flight recording is written where there is one, and a folder for it") {
  const std::string folder = tests::scratch_dir() + "/flight";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  ShellWorld world;
  ShellOptions options = world.options();
  SECTION("there is one") {
    options.flight_recording.emplace();
    options.flight_recording_dir = folder;
    world.start(std::move(options));
    world.line("scheduling begins");
    world.shell().write_recording();
    CHECK_THAT(world.line("the recording of the last hour is written"),
               Catch::Contains("file=" + folder + "/"));
    CHECK_FALSE(std::filesystem::is_empty(folder));
    CHECK_THAT(world.secure("/debug/recording"), Catch::StartsWith("HTTP/1.1 200 "));
  }
  SECTION("there is no folder") {
    options.flight_recording.emplace();
    world.start(std::move(options));
    world.shell().write_recording();
    world.line("no recording is written: --flight-recording-dir is not set");
  }
  SECTION("there is none") {
    options.flight_recording_dir = folder;
    world.start(std::move(options));
    world.shell().write_recording();
    world.line("no recording is written: --flight-recording is 0");
    CHECK_THAT(world.secure("/debug/recording"), Catch::StartsWith("HTTP/1.1 404 "));
  }
  CHECK(world.shut_down() == Shell::End::kShutDown);
}

TEST_CASE("a shell that cannot be opened says why") {
  const ShellWorld world;
  ShellOptions options = world.options();
  std::string want;
  SECTION("the folder of the flight recording") {
    options.flight_recording_dir = tests::scratch_dir() + "/nowhere";
    want = "--flight-recording-dir";
  }
  SECTION("the recording") {
    options.record_file = tests::scratch_dir() + "/nowhere/file";
    want = "/nowhere/file";
  }
  SECTION("the port of the probes") {
    options.http_bind_address = "192.0.2.1:80";
    want = "192.0.2.1:80";
  }
  SECTION("the secure port") {
    options.secure_port->address = "192.0.2.1:80";
    want = "secure port";
  }
  const auto shell = Shell::create(std::move(options));
  REQUIRE_FALSE(shell);
  CHECK_THAT(shell.error().message, Catch::Contains(want));
}
