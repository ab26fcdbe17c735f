#include "scheduler/live/writes/reporter.h"

#include "scheduler/engine/sentences.h"
#include "scheduler/live/log.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace sched::live {

namespace {

using server::AttemptResult;

// For events that belong to no profile.
constexpr const char* kController = "gpu-scheduler";

// Of an event, in the words of the log's field "decision".
constexpr std::string_view kDecisionAnnotation = "gpu-scheduler.io/decision";

std::string path_of(const PodRef& pod) { return pod.namespace_ + "/" + pod.name; }

std::string scores_text(const std::vector<PluginScore>& scores) {
  std::string text;
  for (const PluginScore& score : scores) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}*{}", score.plugin, score.score, score.weight);
  }
  return text;
}

// 0: it is not known.
LogLine& numbered(LogLine& line, std::uint64_t decision) {
  return decision == 0 ? line : line.with("decision", decision);
}

std::int64_t whole_milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

Reporter::Reporter(StatusWriter& statuses, k8s::EventRecorder& events, server::Metrics& metrics,
                   std::string host_name, Clocks clocks)
    : statuses_(statuses),
      events_(events),
      metrics_(metrics),
      host_name_(std::move(host_name)),
      clocks_(std::move(clocks)) {}

void Reporter::unschedulable(const decision::Unschedulable& decision,
                             std::chrono::nanoseconds duration, std::uint64_t number) {
  const std::string message = joined(decision.message, decision.details);
  LogLine line("unschedulable");
  line.with("pod", path_of(decision.pod))
      .with("uid", decision.pod.uid)
      .with("message", decision.message)
      .with("details", decision.details)
      .with("attempts", decision.attempts);
  numbered(line, number).info();
  metrics_.attempt(decision.scheduler_name, AttemptResult::kUnschedulable, duration);
  metrics_.refused(decision.plugins);
  statuses_.write(decision.pod, {.status = "False",
                                 .reason = to_string(decision.reason),
                                 .message = message,
                                 .observed_generation = decision.generation,
                                 .nominated_node = no_nomination(decision.scheduler_name)});
  record(decision.pod, decision.scheduler_name, "Warning", "FailedScheduling", "Scheduling",
         message, number);
}

std::optional<std::string> Reporter::no_nomination(const std::string& scheduler_name) const {
  if (!nominates_.contains(scheduler_name)) return std::nullopt;
  return std::string();
}

void Reporter::evicting(const decision::Evict& decision, std::chrono::nanoseconds duration,
                        std::uint64_t number) {
  if (!statuses_.shows(decision.pod.uid)) return;
  LogLine line("evicting");
  line.with("pod", path_of(decision.pod))
      .with("uid", decision.pod.uid)
      .with("node", decision.node)
      .with("victims", decision.victims.size())
      .with("message", decision.message)
      .with("attempts", decision.attempts);
  numbered(line, number).info();
  metrics_.attempt(decision.scheduler_name, AttemptResult::kUnschedulable, duration);
  metrics_.preempts(decision.victims.size());
  const std::string message = joined(decision.message, decision.details);
  statuses_.write(decision.pod, {.status = "False",
                                 .reason = "Unschedulable",
                                 .message = message,
                                 .observed_generation = decision.generation,
                                 .nominated_node = decision.node});
  record(decision.pod, decision.scheduler_name, "Warning", "FailedScheduling", "Scheduling",
         message, number);
}

void Reporter::evicted(const decision::Evict& decision, const decision::Victim& victim) {
  LogLine("evicted")
      .with("pod", path_of(victim.pod))
      .with("uid", victim.pod.uid)
      .with("node", decision.node)
      .with("for", path_of(decision.pod))
      .with("by", victim.reclaimed ? "reclaim" : "priority")
      .info();
  std::string note = fmt::format("Preempted by pod {} on node {}", decision.pod.uid, decision.node);
  if (victim.reclaimed) {
    note += ", to reclaim GPUs that its quota has borrowed";
    metrics_.reclaimed();
  }
  record(victim.pod, decision.scheduler_name, "Normal", "Preempted", "Preempting", note);
}

void Reporter::judged(const PodRef& pod, const answers::Told& told) {
  statuses_.write(pod, {.status = "False",
                        .reason = to_string(told.reason),
                        .message = told.message,
                        .observed_generation = told.generation});
}

template <typename Attempt>
void Reporter::tell_not_bound(const Attempt& attempt, const std::string& message,
                              std::uint64_t number) {
  statuses_.write(attempt.pod, {.status = "False",
                                .reason = "SchedulerError",
                                .message = message,
                                .observed_generation = attempt.generation,
                                .nominated_node = no_nomination(attempt.scheduler_name)});
  record(attempt.pod, attempt.scheduler_name, "Warning", "FailedScheduling", "Scheduling", message,
         number);
}

void Reporter::preparing(const decision::Prepare& decision) {
  statuses_.replace(decision.pod,
                    {.status = "False",
                     .reason = "WaitingForVolumes",
                     .message = fmt::format(
                         "node {} is kept for it until its volumes, and those of the pods that "
                         "start with it, are there",
                         decision.node),
                     .observed_generation = decision.generation});
}

void Reporter::not_prepared(const decision::NotPrepared& decision,
                            std::chrono::nanoseconds duration, std::uint64_t number) {
  LogLine line("not prepared");
  line.with("pod", path_of(decision.pod))
      .with("uid", decision.pod.uid)
      .with("node", decision.node)
      .with("why", decision.message);
  numbered(line, number).info();
  metrics_.attempt(decision.scheduler_name, AttemptResult::kError, duration);
  tell_not_bound(decision, fmt::format("not bound to node {}: {}", decision.node, decision.message),
                 number);
}

void Reporter::report(const decision::ForeignGpuPod& decision) {
  LogLine("a pod of another scheduler takes GPUs on a node that a profile owns")
      .with("pod", path_of(decision.pod))
      .with("uid", decision.pod.uid)
      .with("node", decision.node)
      .with("gpus", decision.gpus)
      .with("profile", decision.scheduler_name)
      .warning();
  metrics_.foreign_gpu_pod();
  record(decision.pod, decision.scheduler_name, "Warning", "ForeignGpuPod", "Watching",
         fmt::format("takes {} GPU(s) on node {}, which is reserved for pods of scheduler {}; "
                     "two schedulers on one node can give a GPU twice",
                     decision.gpus, decision.node, decision.scheduler_name));
}

void Reporter::report(const decision::MisnamedScheduler& decision) {
  LogLine("a pod waits for a scheduler whose name may be misspelt")
      .with("pod", path_of(decision.pod))
      .with("uid", decision.pod.uid)
      .with("schedulerName", decision.scheduler_name)
      .with("meant", decision.meant)
      .warning();
  record(decision.pod, decision.meant, "Warning", "MisspeltSchedulerName", "Watching",
         fmt::format("schedulerName is {}; is {} meant? It cannot be changed: create the pod anew",
                     decision.scheduler_name, decision.meant));
}

void Reporter::report(const decision::NodeBackedOff& decision) {
  const auto length = std::chrono::ceil<std::chrono::seconds>(decision.until - clocks_.engine());
  LogLine("node backed off: it rejects pods with devices")
      .with("node", decision.node)
      .with("rejected", decision.rejected)
      .with("reason", decision.reason)
      .with("last_pod", path_of(decision.pod))
      .with("seconds", length.count())
      .with("in_a_row", decision.in_a_row)
      .with("platform", decision.platform)
      .warning();
  const std::string platform =
      decision.platform.empty() ? "" : fmt::format("; it has {}", decision.platform);
  record_node(
      decision.node, "Warning", "RejectsGpuPods",
      fmt::format("its kubelet rejected {} pod(s) with devices, the last with {}; gets "
                  "no such pods for {} s ({} in a row), or until one starts there{}",
                  decision.rejected, decision.reason, length.count(), decision.in_a_row, platform));
}

void Reporter::report(const decision::NodeReleased& decision) {
  const std::string why = decision.proven ? "a pod with devices has started there"
                                          : "its back-off is over; it is on trial";
  LogLine("node released").with("node", decision.node).with("why", why).info();
  record_node(decision.node, "Normal", "TakesGpuPodsAgain", "gets pods with devices again: " + why);
}

void Reporter::report(const decision::MigRepartition& decision) {
  const std::string drained =
      decision.to_go == 0
          ? ""
          : fmt::format("once its {} GPU pod(s) are drained or have ended, ", decision.to_go);
  const std::string advice =
      fmt::format("{}label node {} with nvidia.com/mig.config={} (now {})", drained, decision.node,
                  decision.to, decision.from.empty() ? "not labelled" : decision.from);
  LogLine("another MIG configuration would place pods that wait")
      .with("node", decision.node)
      .with("from", decision.from)
      .with("to", decision.to)
      .with("pods", decision.pods.size())
      .with("pods_to_go", decision.to_go)
      .with("first_pod", path_of(decision.pods.front()))
      .with("cost", decision.cost)
      .info();
  for (const PodRef& pod : decision.pods) {
    record(pod, decision.scheduler_name, "Normal", "MigRepartitionAdvised", "Scheduling",
           fmt::format("would fit after a repartition: {}; it would place {} pod(s) that wait and "
                       "costs {}",
                       advice, decision.pods.size(), decision.cost));
  }
}

void Reporter::report(const decision::NodeComplaint& decision) {
  if (decision.complaints.empty()) {
    complained_of_.erase(decision.node);
    LogLine("a node's GPU labels are in order again").with("node", decision.node).info();
  } else {
    if (decision.lasts) complained_of_.insert(decision.node);
    LogLine("a node's GPU labels need a look")
        .with("node", decision.node)
        .with("complaints", fmt::format("{}", fmt::join(decision.complaints, "; ")))
        .warning();
  }
  metrics_.node_complaints(complained_of_.size());
}

void Reporter::bind_unsettled(const decision::Bind& bind, const std::string& answer) {
  LogLine("bind not settled; its capacity stays held until it is")
      .with("pod", path_of(bind.pod))
      .with("uid", bind.pod.uid)
      .with("node", bind.node)
      .with("last_answer", answer)
      .debug();
  tell_not_bound(bind,
                 fmt::format("binding to node {} is not settled, and its capacity held until "
                             "it is; the last answer: {}",
                             bind.node, answer),
                 0);
}

void Reporter::bind_ended(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                          std::uint64_t number) {
  if (outcome.end == BindEnd::kBound) {
    bound(outcome.bind, duration, number);
  } else {
    not_bound(outcome, duration, number);
  }
}

void Reporter::bound(const decision::Bind& bind, std::chrono::nanoseconds duration,
                     std::uint64_t number) {
  const auto since_queued = clocks_.engine() - bind.queued_since;
  LogLine line("bound");
  line.with("pod", path_of(bind.pod))
      .with("uid", bind.pod.uid)
      .with("node", bind.node)
      .with("score", bind.total_score)
      .with("scores", scores_text(bind.scores))
      .with("feasible", fmt::format("{}/{}", bind.feasible_nodes, bind.all_nodes))
      .with("attempts", bind.attempts)
      .with("latency_ms", whole_milliseconds(since_queued));
  numbered(line, number).info();
  metrics_.attempt(bind.scheduler_name, AttemptResult::kScheduled, duration);
  metrics_.pod_scheduled(bind.attempts, since_queued);
  statuses_.forget(bind.pod.uid);
  record(bind.pod, bind.scheduler_name, "Normal", "Scheduled", "Binding",
         fmt::format("Successfully assigned {} to {}", path_of(bind.pod), bind.node), number);
}

void Reporter::not_bound(const BindOutcome& outcome, std::chrono::nanoseconds duration,
                         std::uint64_t number) {
  const decision::Bind& bind = outcome.bind;
  LogLine line(was_sent(outcome.end) ? "bind failed" : "bind not sent in time; decided anew");
  line.with("pod", path_of(bind.pod))
      .with("uid", bind.pod.uid)
      .with("node", bind.node)
      .with("error", outcome.message)
      .with("attempts", bind.attempts);
  numbered(line, number);
  // The cause that keeps the API server from binding is logged once (problem_log.h), not for each
  // pod; each pod's own condition and event have it, too.
  outcome.end == BindEnd::kOvertaken ? line.info() : line.debug();
  metrics_.attempt(bind.scheduler_name, AttemptResult::kError, duration);
  switch (outcome.end) {
    case BindEnd::kStuck:
      // The next attempt may choose another node. Without the node's name the message stays the
      // same, and is reported once.
      return tell_not_bound(bind, "not bound yet: " + outcome.message, number);
    case BindEnd::kFailed:
    case BindEnd::kUnanswered:
      return tell_not_bound(
          bind, fmt::format("binding to node {} failed: {}", bind.node, outcome.message), number);
    case BindEnd::kBound:
    case BindEnd::kGivenBack:
    case BindEnd::kOvertaken:  // no receiver is left
      return;
  }
}

// Nodes have no namespace, and kubectl finds their events by the name in place of the uid, as
// kubelets write them. Source: kubectl, pkg/describe, NodeDescriber.
void Reporter::record_node(const std::string& node, std::string type, std::string reason,
                           std::string note) {
  k8s::EventObject event;
  event.regarding_kind = "Node";
  event.regarding_name = node;
  event.regarding_uid = node;
  event.type = std::move(type);
  event.reason = std::move(reason);
  event.action = "Watching";
  event.note = std::move(note);
  event.reporting_controller = kController;
  event.reporting_instance = std::string(kController) + "-" + host_name_;
  event.event_time = clocks_.wall();
  events_.record(std::move(event));
}

void Reporter::record(const PodRef& pod, const std::string& scheduler_name, std::string type,
                      std::string reason, std::string action, std::string note,
                      std::uint64_t number) {
  k8s::EventObject event;
  event.namespace_ = pod.namespace_;
  if (number != 0) event.annotations.set(kDecisionAnnotation, std::to_string(number));
  event.regarding_kind = "Pod";
  event.regarding_namespace = pod.namespace_;
  event.regarding_name = pod.name;
  event.regarding_uid = pod.uid;
  event.type = std::move(type);
  event.reason = std::move(reason);
  event.action = std::move(action);
  event.note = std::move(note);
  event.reporting_controller = scheduler_name;
  event.reporting_instance = scheduler_name + "-" + host_name_;
  event.event_time = clocks_.wall();
  events_.record(std::move(event));
}

}  // namespace sched::live
