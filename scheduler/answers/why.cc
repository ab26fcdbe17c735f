#include "scheduler/answers/why.h"

#include "scheduler/answers/queue.h"
#include "scheduler/answers/withhold.h"
#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sched::answers {
namespace {

constexpr std::size_t kMostCandidates = 10;

std::string one_line(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : ", ") + text;
  return line;
}

std::vector<ReasonRow> reasons_of(const std::vector<RefusedAlike>& refused) {
  std::map<std::string, ReasonRow> rows;
  for (const auto& [nodes, first] : refused) {
    std::string reason = one_line(first.reasons);
    ReasonRow& row = rows[reason];
    row.nodes += nodes;
    if (!row.reason.empty()) continue;
    row.reason = std::move(reason);
    row.example = first.node;
    if (!first.numbers.empty()) row.example += ": " + one_line(first.numbers);
  }
  std::vector<ReasonRow> sorted;
  for (auto& [reason, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ReasonRow& a, const ReasonRow& b) { return a.nodes > b.nodes; });
  return sorted;
}

std::string without_first_sentence(const std::string& text) {
  const auto end = text.find(". ");
  return end == std::string::npos ? std::string() : text.substr(end + 2);
}

// If pods are being evicted for the pod, its status names the node.
std::string nomination_of(const k8s::Pod& pod) {
  const std::string& node = pod.status.nominated_node_name;
  if (node.empty()) return {};
  return "The pod is nominated for node " + node + ": room is being made for it there.";
}

// How the pod would be judged on each node; returns the engine's words.
Explanation judge(const Engine& engine, const k8s::Pod& pod, Why& why) {
  Explanation explanation = engine.explain_alike(pod);
  why.all_nodes = explanation.all_nodes;
  why.fitting_nodes = explanation.fitting_nodes;
  why.reasons = reasons_of(explanation.refused);
  why.details = explanation.details;
  why.quota_never_gives = explanation.never_by_quota;
  if (why.fitting_nodes > 0) why.candidates = engine.candidates(pod, kMostCandidates);
  return explanation;
}

// Whether the pod was refused and gets no turn until something changes. For other pods the status
// says more, or will soon be written anew.
bool was_refused(const PodInLine& pod) {
  return pod.never.empty() &&
         (pod.place == PodInLine::Place::kParked || pod.place == PodInLine::Place::kRefused);
}

Told told_of(const Explanation& explanation, const k8s::Pod& pod) {
  using Reason = decision::Unschedulable::Reason;
  return {.reason = explanation.by_quota ? Reason::kGpuQuotaExceeded : Reason::kUnschedulable,
          .message = joined(explanation.message, explanation.details),
          .generation = pod.metadata.generation};
}

void wait_for(Why& why, decision::Unschedulable::Reason reason) {
  why.is_for_nodes = reason == decision::Unschedulable::Reason::kUnschedulable;
  why.is_for_pods = reason == decision::Unschedulable::Reason::kWaitingForPods;
  why.is_for_quota = reason == decision::Unschedulable::Reason::kGpuQuotaExceeded;
  if (why.is_for_nodes) return;
  // Room on nodes would not help.
  why.room = {};
  why.ends.clear();
  why.remedies.clear();
}

void tell(Why& why, const Refusal& refusal) {
  // Of a pod that waits for its quota the headline is the message.
  why.details = is_by_quota(refusal) ? refusal.details : without_first_sentence(refusal.details);
  why.headline = headline_of(refusal);
  wait_for(why, refusal.reason);
}

// Of a pod that no node takes.
void find_room(const Engine& engine, const k8s::Pod& pod, Why& why) {
  why.room = engine.room_for(pod);
  for (PodChange& change : engine.changes_for(pod)) why.remedies.push_back({std::move(change), {}});
}

std::vector<std::string> ends_of(const std::vector<GpuTenant>& pods, const PodNames& names) {
  std::vector<std::string> ends;
  for (const GpuTenant& pod : pods) {
    ends.push_back(names.of(pod.uid) + " (" + std::to_string(pod.pieces) + ")");
  }
  return ends;
}

Why about(const k8s::Pod& pod, Time now) {
  Why why;
  why.pod = ref_of(pod);
  why.scheduler_name = pod.spec.scheduler_name;
  why.since = pod.metadata.creation_timestamp.value_or(now);
  return why;
}

// The answer for a pod that waits for no turn of this scheduler; nullopt: it waits for one.
std::optional<Why> why_settled(const Engine& engine, const k8s::Pod& pod,
                               const std::set<std::string>& served, Time now) {
  Why why = about(pod, now);
  const bool ours = served.contains(why.scheduler_name);
  if (pod.is_finished()) {
    why.verdict = Why::Verdict::kFinished;
  } else if (!pod.spec.node_name.empty()) {
    why.verdict = Why::Verdict::kPlaced;
    why.node = pod.spec.node_name;
    if (pod.status.start_time) why.since = *pod.status.start_time;
    // Without its node, so that all nodes are judged and not only that one.
    k8s::Pod unbound = pod;
    unbound.spec.node_name.clear();
    if (ours) {
      judge(engine, unbound, why);
      why.named_nodes = nodes_named_in(engine, why);
    }
  } else if (!ours) {
    why.verdict = Why::Verdict::kNotOurs;
    const std::string meant = meant_by(why.scheduler_name, served);
    if (!meant.empty()) why.headline = "is \"" + meant + "\" meant?";
  } else {
    return std::nullopt;
  }
  return why;
}

class Asking {
 public:
  Asking(Engine& engine, const k8s::Pod& pod, const PodNames& names, Time now)
      : engine_(engine), pod_(pod), names_(names), now_(now), why_(about(pod, now)) {}

  Why waiting() {
    if (auto in_line = engine_.find_in_line(pod_.metadata.uid)) {
      why_.asks = std::move(in_line->asks);
      why_.quota = std::move(in_line->quota);
      why_.headline = std::move(in_line->never);
    }
    if (!why_.headline.empty()) return is(Why::Verdict::kNever);
    const bool is_rejected = judge(engine_, pod_, why_).rejection.has_value();
    if (!pod_.spec.scheduling_gates.empty()) {
      why_.headline = "scheduling gates " + one_line(pod_.spec.scheduling_gates);
      return is(Why::Verdict::kGated);
    }
    if (why_.fitting_nodes == 0) {
      find_room(engine_, pod_, why_);
      name_ends(why_, names_);
    }
    Outlook outlook;
    outlook.advance(engine_, now_);
    const Outlook::Outcome* outcome = outlook.find(pod_.metadata.uid);
    if (outcome != nullptr && outcome->starts()) {
      why_.node = outcome->node;
      return is(Why::Verdict::kStarts);
    }
    if (outcome != nullptr) {
      tell(why_, outlook.refusal(*outcome));
      if (is_rejected) why_.is_for_nodes = false;
    }
    return is(Why::Verdict::kWaits);
  }

 private:
  Why is(Why::Verdict verdict) {
    why_.details = joined(std::move(why_.details), nomination_of(pod_));
    why_.verdict = verdict;
    return std::move(why_);
  }

  Engine& engine_;
  const k8s::Pod& pod_;
  const PodNames& names_;
  const Time now_;
  Why why_;
};

// Completes `why` by what was judged.
void tell_now(const Engine& engine, const k8s::Pod& pod, const Explanation& explanation, Why& why) {
  if (explanation.message.empty()) {
    why.verdict = Why::Verdict::kStarts;
    if (!why.candidates.empty()) why.node = why.candidates.front().node;
    return;
  }
  if (explanation.rejection) {
    why.headline = *explanation.rejection;
    return;
  }
  if (explanation.by_quota) {
    why.headline = explanation.message;  // names the quota
    why.is_for_quota = true;
    return;
  }
  find_room(engine, pod, why);
  tell(why, {.message = explanation.message, .details = explanation.details, .plugins = {}});
}

}  // namespace

std::vector<GpuTenant> pods_to_end(const Why& why) {
  std::vector<GpuTenant> pods = why.room.pods;
  for (const Remedy& remedy : why.remedies) {
    pods.insert(pods.end(), remedy.change.pods.begin(), remedy.change.pods.end());
  }
  return pods;
}

void name_ends(Why& why, const PodNames& names) {
  why.ends = ends_of(why.room.pods, names);
  for (Remedy& remedy : why.remedies) remedy.ends = ends_of(remedy.change.pods, names);
}

Why why_now(const Engine& engine, const k8s::Pod& pod, Time now) {
  Why why = about(pod, now);
  const Explanation explanation = judge(engine, pod, why);
  tell_now(engine, pod, explanation, why);
  why.details = joined(std::move(why.details), nomination_of(pod));
  why.named_nodes = nodes_named_in(engine, why);
  if (!explanation.message.empty()) why.told = told_of(explanation, pod);
  return why;
}

// The pod starts only with its group. So where it could go alone is left out, also for its status.
void wait_with_group(Why& why, const PodInLine& in_line) {
  why.verdict = Why::Verdict::kWaits;
  why.node.clear();
  why.told.reset();
  why.headline = in_line.group_waits.empty() ? "the turn of its group " + in_line.group + " comes"
                                             : in_line.group_waits;
  if (in_line.misses_pods) wait_for(why, decision::Unschedulable::Reason::kWaitingForPods);
}

Why why_waiting(const Engine& engine, const k8s::Pod& pod, const PodInLine& in_line, Time now) {
  Why why = why_now(engine, pod, now);
  why.asks = in_line.asks;
  why.quota = in_line.quota;
  if (!was_refused(in_line)) why.told.reset();
  if (in_line.place == PodInLine::Place::kGated) why.verdict = Why::Verdict::kGated;
  if (!in_line.group.empty()) wait_with_group(why, in_line);
  if (!in_line.never.empty()) {
    why.verdict = Why::Verdict::kNever;
    why.headline = in_line.never;
  }
  return why;
}

Why why_seen(const Engine& engine, const k8s::Pod& pod, const std::set<std::string>& served,
             Time now) {
  if (auto settled = why_settled(engine, pod, served, now)) return *std::move(settled);
  if (const auto in_line = engine.find_in_line(pod.metadata.uid)) {
    return why_waiting(engine, pod, *in_line, now);
  }
  Why why = why_now(engine, pod, now);  // its event is still on its way to the engine
  why.told.reset();
  return why;
}

const char* to_string(Why::Verdict verdict) {
  switch (verdict) {
    case Why::Verdict::kPlaced:
      return "Placed";
    case Why::Verdict::kStarts:
      return "Starts";
    case Why::Verdict::kWaits:
      return "Waits";
    case Why::Verdict::kGated:
      return "Gated";
    case Why::Verdict::kNever:
      return "Never";
    case Why::Verdict::kNotOurs:
      return "NotOurs";
    case Why::Verdict::kFinished:
      return "Finished";
  }
  return "";
}

Why why(Engine& engine, const k8s::Pod& pod, const std::set<std::string>& served,
        const PodNames& names, Time now) {
  if (auto settled = why_settled(engine, pod, served, now)) return *std::move(settled);
  return Asking(engine, pod, names, now).waiting();
}

}  // namespace sched::answers
