// What the tests of the intake share: an API server that answers each list, and an intake with what
// it tells.
#pragma once

#include "k8s-client/api/encode.h"
#include "scheduler/live/intake.h"
#include "tests/support/builders.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests::reading {

using sched::live::Intake;

inline constexpr std::string_view kInitialEventsEnd =
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
    R"({"k8s.io/initial-events-end":"true"}}}})"
    "\n";

inline constexpr std::string_view kQuotas = "/apis/gpu-scheduler.io/v1alpha1/gpuquotas";

// The two watches of pods, told apart by their field selectors.
inline bool is_of_pods(const std::string& target) {
  return target.find("/api/v1/pods?") != std::string::npos &&
         target.find("Succeeded") != std::string::npos;
}
inline bool is_of_failed_pods(const std::string& target) {
  return target.find("/api/v1/pods?") != std::string::npos && !is_of_pods(target);
}

// As an API server sends it: no object is without a version.
template <typename T>
std::string event_line(const std::string& type, T object) {
  object.metadata.resource_version = "7";
  return R"({"type":")" + type + R"(","object":)" + k8s::encode(object) + "}\n";
}

struct IntakeBench {
  // Answers each streamed list with `objects` of its kind and keeps the stream open.
  void serve() {
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) {
      const std::string& target = call->request().target;
      const std::string path = target.substr(0, target.find('?'));
      if (path == refused) return call->respond(403, "{}");
      if (path == absent) return call->respond(404, "{}");
      call->open();
      if (is_of_failed_pods(call->request().target)) {
        for (const k8s::Pod& pod : failed) {
          call->send(event_line("ADDED", pod));
        }
        failed_stream = call;
      } else if (path == "/api/v1/pods") {
        for (const k8s::Pod& pod : pods) {
          call->send(event_line("ADDED", pod));
        }
        pod_stream = call;
      }
      if (path == "/api/v1/persistentvolumeclaims") {
        for (const k8s::PersistentVolumeClaim& claim : claims) {
          call->send(event_line("ADDED", claim));
        }
      }
      if (path == kQuotas && quota) {
        call->send(event_line("ADDED", *quota));
        quota_stream = call;
      }
      call->send(std::string(kInitialEventsEnd));
    });
  }
  [[nodiscard]] bool asked_for_pods() const {
    return std::any_of(transport.seen().begin(), transport.seen().end(), is_of_pods);
  }
  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  std::vector<k8s::Pod> pods;
  std::vector<k8s::PersistentVolumeClaim> claims;
  std::optional<k8s::GpuQuota> quota;
  std::string refused;
  std::string absent;
  std::vector<k8s::Pod> failed;
  std::shared_ptr<tests::FakeCall> pod_stream;
  std::shared_ptr<tests::FakeCall> failed_stream;
  std::shared_ptr<tests::FakeCall> quota_stream;
  std::vector<sched::Event> events;
  std::vector<std::string> seen_pods;
  std::vector<std::string> seen_quotas;
  std::vector<std::string> problems;
  std::vector<std::string> recovered;
  std::vector<std::string> unreadable;
  bool synced = false;
  explicit IntakeBench(sched::ChangeMask reads_of_it = 0, bool reads_budgets = false)
      : reads(reads_of_it), budgets(reads_budgets) {}
  sched::ChangeMask reads;
  bool budgets;
  Intake intake{
      transport,
      loop,
      {.on_event = [this](sched::Event event) { events.push_back(std::move(event)); },
       .on_pod = [this](const k8s::Pod& pod) { seen_pods.push_back(pod.metadata.name); },
       .on_pod_gone = [this](const std::string& uid) { seen_pods.push_back("-" + uid); },
       .on_quota =
           [this](const k8s::GpuQuota& shown) { seen_quotas.push_back(shown.metadata.name); },
       .on_quota_gone = [this](const std::string& uid) { seen_quotas.push_back("-" + uid); },
       .on_quotas_presence =
           [this](bool present) { seen_quotas.push_back(present ? "on" : "off"); },
       .on_problem = [this](const std::string& kind, const k8s::Error&,
                            auto) { problems.push_back(kind); },
       .on_recovered = [this](const std::string& kind) { recovered.push_back(kind); },
       .on_unreadable =
           [this](const std::string&, const k8s::Error& why) {
             // "watch PATH: OBJECT: FIELD: what is wrong with it"
             const std::size_t from = why.message.find(": ") + 2;
             const std::size_t to = why.message.find("'", from);
             unreadable.push_back(why.message.substr(from, to - from));
           },
       .on_synced = [this] { synced = true; }},
      {},
      {.reads = reads, .disruption_budgets = budgets}};
};

}  // namespace tests::reading
