// Reports decisions and their outcomes: to the pod (condition), to people (events, log) and to
// dashboards (metrics).
//
// Texts and reasons are kube-scheduler's, so that their readers (kubectl describe, autoscalers,
// alerts) find what they look for. On the event loop's thread.
#pragma once

#include "k8s-client/event_recorder.h"
#include "scheduler/answers/why.h"
#include "scheduler/engine/decision.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/status_writer.h"
#include "scheduler/server/metrics.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace sched::live {

class Reporter {
 public:
  struct Clocks {
    std::function<Time()> engine;  // the clock by which decisions are dated
    std::function<Time()> wall;    // the system's clock, which may be set; for people
  };
  // All must outlive it. `host_name` makes the events' reporting instance.
  Reporter(StatusWriter& statuses, k8s::EventRecorder& events, server::Metrics& metrics,
           std::string host_name, Clocks clocks);

  // `duration`: how long deciding took. `number`: of the decision (Decided::number), also in the
  // log and in the event; 0: not known.
  void unschedulable(const decision::Unschedulable& decision, std::chrono::nanoseconds duration,
                     std::uint64_t number = 0);
  // The pod has its node, and what it needs there is made ready. A pod that waited before must not
  // be called unschedulable meanwhile: an autoscaler would make a node for it.
  void preparing(const decision::Prepare& decision);
  void not_prepared(const decision::NotPrepared& decision, std::chrono::nanoseconds duration,
                    std::uint64_t number = 0);
  // Room is being made for the pod. No effect if the watch does not show it waiting any more: then
  // nothing is evicted for it (evictor.h).
  void evicting(const decision::Evict& decision, std::chrono::nanoseconds duration,
                std::uint64_t number = 0);
  // The server has taken the deletion of a victim.
  void evicted(const decision::Evict& decision, const decision::Victim& victim);
  // This process nominates pods of that schedulerName for nodes. It takes the nomination back when
  // such a pod waits for something else.
  void nominates_for(const std::string& scheduler_name) { nominates_.insert(scheduler_name); }
  // An answer to a user said why the pod waits: its status gets the same text. Otherwise they could
  // differ, because numbers that give the pod no room change without a new decision on it. Call it
  // in the order of decisions and answers, or an older text replaces a newer one.
  void judged(const PodRef& pod, const answers::Told& told);
  // Reports that are only for people.
  void report(const decision::ForeignGpuPod& decision);
  void report(const decision::MisnamedScheduler& decision);
  void report(const decision::NodeBackedOff& decision);
  void report(const decision::NodeReleased& decision);
  void report(const decision::MigRepartition& decision);
  void report(const decision::NodeComplaint& decision);
  // The outcome of a bind has been unknown for long; `answer` is the API server's last answer.
  void bind_unsettled(const decision::Bind& bind, const std::string& answer);
  // `duration`: from the decision's begin to the bind's outcome.
  void bind_ended(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                  std::uint64_t number = 0);

 private:
  void bound(const decision::Bind& bind, std::chrono::nanoseconds duration, std::uint64_t number);
  void not_bound(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                 std::uint64_t number);
  // kube-scheduler's reason for a failure after a node was chosen.
  template <typename Attempt>
  void tell_not_bound(const Attempt& attempt, const std::string& message, std::uint64_t number);
  // What to write as the nomination of a pod that waits for something else: empty removes it;
  // nullopt leaves it as it is.
  [[nodiscard]] std::optional<std::string> no_nomination(const std::string& scheduler_name) const;
  void record(const PodRef& pod, const std::string& scheduler_name, std::string type,
              std::string reason, std::string action, std::string note, std::uint64_t number = 0);
  void record_node(const std::string& node, std::string type, std::string reason, std::string note);

  StatusWriter& statuses_;
  k8s::EventRecorder& events_;
  server::Metrics& metrics_;
  std::string host_name_;
  Clocks clocks_;
  std::set<std::string> complained_of_;  // nodes
  std::set<std::string> nominates_;      // names of schedulers
};

}  // namespace sched::live
