#include "scheduler/answers/plan.h"

#include "scheduler/answers/outlook.h"
#include "scheduler/answers/queue.h"
#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sched::answers {
namespace {

// Why the engine makes no decision on a new pod.
std::string why_undecided(const k8s::Pod& pod, const std::set<std::string>& served) {
  if (!served.contains(pod.spec.scheduler_name)) {
    return "no profile of the configuration serves schedulerName \"" + pod.spec.scheduler_name +
           "\"";
  }
  if (pod.is_finished()) return "it has finished (status.phase)";
  if (!pod.spec.node_name.empty()) return "it is on node " + pod.spec.node_name + " already";
  if (pod.is_terminating()) return "it is being deleted (metadata.deletionTimestamp)";
  if (!pod.spec.scheduling_gates.empty()) {
    return "Scheduling is blocked due to non-empty scheduling gates";
  }
  return "nothing was decided";
}

// The pod that its controller creates in place of the evicted one.
k8s::Pod created_anew(k8s::Pod pod, Time now) {
  pod.metadata.uid += "/anew";
  pod.metadata.creation_timestamp = now;
  pod.metadata.deletion_timestamp.reset();
  pod.spec.node_name.clear();
  pod.status = {};
  return pod;
}

// A drain leaves the pods of DaemonSets and static pods, of which the node is the controller, where
// they are.
bool stays(const k8s::Pod& pod) {
  const k8s::OwnerReference* controller = k8s::controller_of(pod.metadata);
  return controller != nullptr && (controller->kind == "DaemonSet" || controller->kind == "Node");
}

class Planning {
 public:
  Planning(Engine& engine, const std::set<std::string>& served, Time now)
      : engine_(engine), served_(served), now_(now) {}

  Plan run(Engine* undrained, Change change) {
    cordon(change.drained);
    outlook_.advance(engine_, now_);
    const std::vector<PodRef> start_without_change = starts_without_change(undrained);
    for (Event& event : change.objects) engine_.apply(std::move(event), now_);
    for (const PodRef& pod : change.replaced) engine_.apply(event::PodDeleted{pod}, now_);
    plan_.replaced = std::move(change.replaced);
    evict(std::move(change.evicted));
    for (k8s::Pod& pod : change.pods) create(std::move(pod), PlanRow::Origin::kNew);
    outlook_.advance(engine_, now_);

    compare(start_without_change);
    for (const k8s::Pod& pod : created_) tell_of_waiting(pod);
    std::vector<PodInLine> line = engine_.in_line();
    std::erase_if(line, [&](const PodInLine& pod) { return origins_.contains(pod.pod.uid); });
    plan_.still = queue_of(line, outlook_, {}, served_);
    return std::move(plan_);
  }

 private:
  // Before the change is made, but for its cordons.
  [[nodiscard]] std::vector<PodRef> starts_without_change(Engine* undrained) const {
    Outlook without;
    if (undrained != nullptr) without.advance(*undrained, now_);
    std::vector<PodRef> starts;
    for (const Outlook::Outcome& outcome : (undrained != nullptr ? without : outlook_).outcomes()) {
      if (outcome.starts()) starts.push_back(outcome.pod);
    }
    return starts;
  }

  // What starts with the change, and what without it.
  void compare(const std::vector<PodRef>& start_without_change) {
    std::unordered_set<std::string> uids;
    for (const PodRef& pod : start_without_change) {
      uids.insert(pod.uid);
      if (is_replaced(pod)) continue;
      const Outlook::Outcome* outcome = outlook_.find(pod.uid);
      if (outcome != nullptr && outcome->starts()) {
        ++plan_.start_anyway;
      } else {
        plan_.held_up.push_back(pod);
      }
    }
    for (const Outlook::Outcome& outcome : outlook_.outcomes()) {
      if (!outcome.starts() || uids.contains(outcome.pod.uid)) continue;
      plan_.starts.push_back({outcome.pod, origin_of(outcome.pod.uid), outcome.node, {}, {}});
    }
  }

  [[nodiscard]] bool is_replaced(const PodRef& pod) const {
    return std::any_of(plan_.replaced.begin(), plan_.replaced.end(),
                       [&](const PodRef& one) { return one.uid == pod.uid; });
  }

  void cordon(const std::vector<k8s::Node>& nodes) {
    for (k8s::Node node : nodes) {
      node.spec.unschedulable = true;
      engine_.apply(event::NodeUpserted{std::move(node)}, now_);
    }
  }

  void evict(std::vector<k8s::Pod> pods) {
    std::erase_if(pods, stays);
    for (const k8s::Pod& pod : pods) engine_.apply(event::PodDeleted{ref_of(pod)}, now_);
    for (k8s::Pod& pod : pods) {
      if (k8s::controller_of(pod.metadata) == nullptr) {
        plan_.ended.push_back(ref_of(pod));
      } else if (!served_.contains(pod.spec.scheduler_name)) {
        plan_.elsewhere.push_back(ref_of(pod));
      } else {
        create(created_anew(std::move(pod), now_), PlanRow::Origin::kEvicted);
      }
    }
  }

  void create(k8s::Pod pod, PlanRow::Origin origin) {
    origins_[pod.metadata.uid] = origin;
    created_.push_back(pod);
    engine_.apply(event::PodUpserted{std::move(pod)}, now_);
  }

  [[nodiscard]] PlanRow::Origin origin_of(const std::string& uid) const {
    const auto found = origins_.find(uid);
    return found == origins_.end() ? PlanRow::Origin::kWaits : found->second;
  }

  void tell_of_waiting(const k8s::Pod& pod) {
    const Outlook::Outcome* outcome = outlook_.find(pod.metadata.uid);
    if (outcome != nullptr && outcome->starts()) return;
    PlanRow row{ref_of(pod), origin_of(pod.metadata.uid), {}, {}, {}};
    if (outcome == nullptr) {
      row.headline = row.why = why_undecided(pod, served_);
    } else {
      const Refusal& refusal = outlook_.refusal(*outcome);
      row.headline = headline_of(refusal);
      row.why = joined(refusal.message, refusal.details);
    }
    plan_.waits.push_back(std::move(row));
  }

  Engine& engine_;
  const std::set<std::string>& served_;
  const Time now_;
  Outlook outlook_;
  std::unordered_map<std::string, PlanRow::Origin> origins_;  // of created_, by uid
  std::vector<k8s::Pod> created_;
  Plan plan_;
};

}  // namespace

const char* to_string(PlanRow::Origin origin) {
  switch (origin) {
    case PlanRow::Origin::kWaits:
      return "Waits";
    case PlanRow::Origin::kNew:
      return "New";
    case PlanRow::Origin::kEvicted:
      return "Evicted";
  }
  return "";
}

std::map<std::string, std::size_t> Plan::causes() const {
  std::map<std::string, std::size_t> causes;
  for (const QueueRow& row : still.rows) {
    ++causes[row.blocked_by.empty() ? "turn" : row.blocked_by];
  }
  if (!still.never.empty()) causes["never"] = still.never.size();
  return causes;
}

std::vector<QueueRow> Plan::first_still_waiting(std::size_t at_most) const {
  const std::size_t count = std::min(at_most, still.rows.size());
  return {still.rows.begin(), still.rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

Plan plan(Engine& engine, Engine* undrained, Change change, const std::set<std::string>& served,
          Time now) {
  return Planning(engine, served, now).run(undrained, std::move(change));
}

}  // namespace sched::answers
