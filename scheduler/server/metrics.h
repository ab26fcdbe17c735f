// The scheduler's figures under kube-scheduler's names, so that its dashboards and alerts fit.
//
// Each figure is published by the thread that knows it (attempts and API calls by the I/O thread,
// queue lengths by the engine's) and may be read at any time: a scrape never asks the engine.
// Labels are few: no names of pods and nodes; of namespaces at most GpuTotals::kMostNamespaces;
// the names of quotas and the GPU types of their lines, which are as many as an administrator
// wrote; and the types of GPUs that nodes name. Source of names and buckets:
// Kubernetes 1.36, pkg/scheduler/metrics, and client-go's rest_client_*.
#pragma once

#include "k8s-client/event_recorder.h"
#include "scheduler/engine/engine.h"
#include "scheduler/server/process_figures.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sched::server {

enum class AttemptResult { kScheduled, kUnschedulable, kError };

// Thread-safe.
class Metrics {
 public:
  // `profiles`: the scheduler names that exist; attempts of others are not counted.
  explicit Metrics(const std::vector<std::string>& profiles, std::string_view version = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // One scheduling attempt: the decision, and the bind if there was one.
  void attempt(std::string_view profile, AttemptResult result, std::chrono::nanoseconds duration);
  // A pod was bound at its `attempts`-th attempt, `since_queued` after it was first seen pending.
  void pod_scheduled(int attempts, std::chrono::nanoseconds since_queued);
  // A call that a kube-scheduler's plugin would make at that extension point: "Bind", "PreBind".
  void extension_point(std::string_view point, std::string_view profile, bool succeeded,
                       std::chrono::nanoseconds duration);
  void pending(const PendingPods& pods);
  // Totals so far.
  void queue_entries(const QueueEntries& entries);
  // A decision that a pod cannot be placed, by the plugins that refused it.
  void refused(const std::vector<std::string>& plugins);
  // A pod of another scheduler took GPUs on a node that a profile owns.
  void foreign_gpu_pod();
  // Room is being made for a pod, by evicting so many others.
  void preempts(std::size_t victims);
  // A pod was evicted because its quota had borrowed (decision::Victim).
  void reclaimed();
  // The accounts of quotas that have changed. All others are as in earlier calls.
  void quotas(const QuotaNews& news);
  void gpu_figures(const GpuFigures& figures);
  // The GPUs and the pods that wait, as of `now`.
  void gpu_totals(const GpuTotals& totals, Time now);
  // They are not known: this replica does not decide.
  void no_gpu_totals();
  // Nodes whose GPU labels or amounts contradict themselves.
  void node_complaints(std::size_t nodes);
  // One finished API call; `status` 0: no answer.
  void request(std::string_view verb, int status, std::chrono::nanoseconds duration);
  // Both are called after each scrape, for the next one. Objects of that kind that cannot be read:
  void unreadable(const std::string& kind, std::size_t objects);
  // How long ago the watch of that kind was last known to be up to date.
  void watch_age(const std::string& kind, std::chrono::nanoseconds age);
  // Whether the recording is still written. Not called: there is none.
  void recording(bool writes);
  // What the flight recorder has. Not called: there is none.
  struct FlightRecording {
    bool recording = true;
    std::size_t bytes = 0;
    std::chrono::microseconds span{};
    std::uint64_t lost = 0;  // calls, ever
  };
  void flight_recording(const FlightRecording& figures);
  // Of the decisions that are being carried out, the last one's number.
  void last_decision(std::uint64_t number);
  // Whether we hold the lease of that name. Not called: there is no election.
  void leads(const std::string& lease, bool leads);
  // Called before each scrape, as this one.
  void process(const ProcessFigures& figures);
  // Totals so far; called before each scrape.
  void events(const k8s::EventRecorder::Counters& totals);

  // Prometheus' text format.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace sched::server
