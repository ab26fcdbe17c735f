#include "bench/what_if/answers.h"

#include "bench/demo/scores_text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace bench {
namespace {

// What the pods are called, by uid.
std::map<std::string, std::string> names_of(const std::vector<k8s::Pod>& pods) {
  const bool several = std::any_of(pods.begin(), pods.end(), [&](const k8s::Pod& pod) {
    return pod.metadata.namespace_ != pods.front().metadata.namespace_;
  });
  std::map<std::string, std::string> names;
  for (const k8s::Pod& pod : pods) {
    const k8s::ObjectMeta& meta = pod.metadata;
    names[meta.uid] = several ? meta.namespace_ + "/" + meta.name : meta.name;
  }
  return names;
}

// Why the engine decides nothing on a pod.
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

}  // namespace

k8s::Result<void> check_pods(const std::vector<k8s::Pod>& pods) {
  if (pods.empty()) return k8s::config_error("the files have no pods");
  std::set<std::string> names;
  std::set<std::string> uids;
  for (const k8s::Pod& pod : pods) {
    const std::string name = pod.metadata.namespace_ + "/" + pod.metadata.name;
    if (!names.insert(name).second) {
      return k8s::config_error("pod \"" + name + "\" is given twice");
    }
    if (!uids.insert(pod.metadata.uid).second) {
      return k8s::config_error("pod \"" + name + "\" has the uid of another: " + pod.metadata.uid);
    }
  }
  return {};
}

std::vector<Outcome> answers(sched::Engine& engine, const std::vector<k8s::Pod>& pods,
                             const std::set<std::string>& served, sched::Time now) {
  for (const k8s::Pod& pod : pods) engine.apply(sched::event::PodUpserted{pod}, now);
  auto open = names_of(pods);  // those that nothing is decided on yet
  std::vector<Outcome> outcomes;
  const auto tell = [&](const sched::PodRef& pod, Outcome outcome) {
    const auto found = open.find(pod.uid);
    if (found == open.end()) return;
    outcome.pod = found->second;
    outcomes.push_back(std::move(outcome));
    open.erase(found);
  };
  while (auto decision = engine.step(now)) {
    if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) {
      tell(bind->pod, {.pod = {}, .node = bind->node, .scores = scores_text(*bind), .message = {}});
    } else if (const auto* prepare = std::get_if<sched::decision::Prepare>(&*decision)) {
      tell(prepare->pod, {.pod = {},
                          .node = prepare->node,
                          .scores = "once its volumes are bound",
                          .message = {}});
    } else if (const auto* waits = std::get_if<sched::decision::Unschedulable>(&*decision)) {
      tell(waits->pod, {.pod = {}, .node = {}, .scores = {}, .message = waiting_text(*waits)});
    }
  }
  for (const k8s::Pod& pod : pods) {
    const auto found = open.find(pod.metadata.uid);
    if (found == open.end()) continue;
    outcomes.push_back(
        {.pod = found->second, .node = {}, .scores = {}, .message = why_undecided(pod, served)});
  }
  return outcomes;
}

}  // namespace bench
