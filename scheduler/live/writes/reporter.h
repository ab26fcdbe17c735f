// Tells what was decided and what became of it: to the pod (condition), to people (events, log) and
// to dashboards (metrics).
//
// Texts and reasons are kube-scheduler's, so that whoever reads them (kubectl describe,
// autoscalers, alerts) finds what they look for. On the event loop's thread.
#pragma once

#include "k8s-client/event_recorder.h"
#include "scheduler/engine/decision.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/status_writer.h"
#include "scheduler/server/metrics.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace sched::live {

class Reporter {
 public:
  struct Clocks {
    std::function<Time()> engine;  // the one that decisions are dated by
    std::function<Time()> wall;    // the system's, which may be set; what people are told
  };
  // All must outlive it. `host_name` makes the events' reporting instance.
  Reporter(StatusWriter& statuses, k8s::EventRecorder& events, server::Metrics& metrics,
           std::string host_name, Clocks clocks);

  // `duration`: what deciding took. `number`: the decision's (Decided::number), which the log and
  // the event have as well; 0: it is not known.
  void unschedulable(const decision::Unschedulable& decision, std::chrono::nanoseconds duration,
                     std::uint64_t number = 0);
  void not_prepared(const decision::NotPrepared& decision, std::chrono::nanoseconds duration,
                    std::uint64_t number = 0);
  // What is news to people, and to nobody else.
  void report(const decision::ForeignGpuPod& decision);
  void report(const decision::NodeBackedOff& decision);
  void report(const decision::NodeReleased& decision);
  void report(const decision::MigRepartition& decision);
  void report(const decision::NodeComplaint& decision);
  // The API server has not said for long what became of a bind; `answer` is what it said instead.
  void bind_unsettled(const decision::Bind& bind, const std::string& answer);
  // `duration`: from the decision's begin to the bind's outcome.
  void bind_ended(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                  std::uint64_t number = 0);

 private:
  void bound(const decision::Bind& bind, std::chrono::nanoseconds duration, std::uint64_t number);
  void not_bound(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                 std::uint64_t number);
  // kube-scheduler's reason for what fails after a node was chosen.
  template <typename Attempt>
  void tell_not_bound(const Attempt& attempt, const std::string& message, std::uint64_t number);
  void record(const PodRef& pod, const std::string& scheduler_name, std::string type,
              std::string reason, std::string action, std::string note, std::uint64_t number = 0);
  void record_node(const std::string& node, std::string type, std::string reason, std::string note);

  StatusWriter& statuses_;
  k8s::EventRecorder& events_;
  server::Metrics& metrics_;
  std::string host_name_;
  Clocks clocks_;
  std::set<std::string> complained_of_;  // nodes
};

}  // namespace sched::live
