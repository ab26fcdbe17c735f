#include "bench/verdicts/judge.h"

#include "plugins/registry.h"
#include "scheduler/engine/engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bench::verdicts {

namespace {

constexpr const char* kProfileName = "kube-parity";

// kube-scheduler's filters of 1.36 that are built here, by name.
const std::set<std::string, std::less<>> kFilters = {"NodeUnschedulable", "NodeName",
                                                     "TaintToleration",   "NodeAffinity",
                                                     "NodePorts",         "NodeResourcesFit"};
// Its scores that are built here, with their weights.
const std::map<std::string, std::int64_t, std::less<>> kScores = {
    {"TaintToleration", 3},   {"NodeAffinity", 2},     {"NodeResourcesFit", 1},
    {"PodTopologySpread", 2}, {"InterPodAffinity", 2}, {"NodeResourcesBalancedAllocation", 1},
    {"ImageLocality", 1}};
// Its rules across nodes that are built here.
const std::set<std::string, std::less<>> kConstraints = {
    "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",       "VolumeZone",
    "PodTopologySpread",  "InterPodAffinity", "NodeDeclaredFeatures"};

sched::Profile parity_profile(const Case& question) {
  sched::Profile profile;
  profile.scheduler_name = kProfileName;
  const k8s::yaml::Value no_args;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    const auto given = question.args.find(std::string(entry.name));
    k8s::yaml::ObjectReader args(given == question.args.end() ? no_args : given->second, "");
    const auto weight = kScores.find(entry.name);
    sched::PluginInstance made = entry.make(args);
    if (kFilters.contains(entry.name)) profile.filters.push_back(std::move(made.filter));
    if (made.constraint) {
      const bool says_no = kConstraints.contains(entry.name);
      if (!says_no && weight == kScores.end()) continue;
      profile.constraints.emplace_back(std::move(made.constraint), says_no,
                                       weight == kScores.end() ? 0 : weight->second);
    } else if (weight != kScores.end()) {
      profile.scores.push_back({std::move(made.score), weight->second});
    }
  }
  return profile;
}

// `preempts`: all pods are of the profile, and it may evict every pod that kube-scheduler may
// evict.
sched::Engine engine_with(const Case& question, bool preempts) {
  std::vector<sched::Profile> profiles;
  profiles.push_back(parity_profile(question));
  if (preempts) {
    profiles.back().preemption = {.evicts_bare_pods = true, .violates_budgets = true};
  }
  sched::Engine engine(std::move(profiles), {});
  const sched::Time now{};
  for (const sched::Event& each : question.others) engine.apply(each, now);
  for (const k8s::Node& node : question.nodes) engine.apply(sched::event::NodeUpserted{node}, now);
  for (std::size_t i = 0; i < question.pods.size(); ++i) {
    k8s::Pod pod = question.pods[i];
    // The engine identifies pods by uid, which a case written by hand may leave out.
    if (pod.metadata.uid.empty()) pod.metadata.uid = "pods[" + std::to_string(i) + "]";
    if (preempts) pod.spec.scheduler_name = kProfileName;
    engine.apply(sched::event::PodUpserted{pod}, now);
  }
  engine.apply(sched::event::Synced{}, now);
  return engine;
}

// A hundred times a larger amount, in thousandths of a CPU or in bytes, is beyond 64 bits.
constexpr std::int64_t kMostOfNode = std::numeric_limits<std::int64_t>::max() / sched::kMaxScore;

bool wraps_around(const k8s::Node& node) {
  const auto& all = node.status.allocatable;
  return std::any_of(all.begin(), all.end(), [](const auto& entry) {
    const auto& [name, amount] = entry;
    return (name == "cpu" ? amount.milli_value() : amount.value()) > kMostOfNode;
  });
}

Preemption preemption_for(const Case& question, k8s::Pod pod) {
  sched::Engine engine = engine_with(question, true);
  const sched::Time now{};
  if (pod.metadata.uid.empty()) pod.metadata.uid = "pod";
  engine.apply(sched::event::PodUpserted{std::move(pod)}, now);
  Preemption made;
  while (const auto decision = engine.step(now)) {
    const auto* evict = std::get_if<sched::decision::Evict>(&*decision);
    if (evict == nullptr) continue;
    made.best.insert(evict->node);
    for (const sched::decision::Victim& victim : evict->victims) {
      made.victims[evict->node].insert(victim.pod.namespace_ + '/' + victim.pod.name);
    }
  }
  return made;
}

}  // namespace

bool is_built(const NodeVerdict& verdict) {
  return kFilters.contains(verdict.plugin) || kConstraints.contains(verdict.plugin);
}

std::set<std::string> scoring_plugins(const Case& question) {
  std::set<std::string> names;
  for (const auto& [name, weight] : kScores) names.insert(name);
  const bool some_wraps = std::any_of(question.nodes.begin(), question.nodes.end(), wraps_around);
  if (question.pod.spec.resource_requests || some_wraps) names.erase("NodeResourcesFit");
  return names;
}

Answer judge(const Case& question, bool with_scores) {
  const sched::Engine engine = engine_with(question, false);
  // Whichever scheduler the pod names, this profile judges it.
  k8s::Pod pod = question.pod;
  pod.spec.scheduler_name = kProfileName;
  const sched::Explanation explanation = engine.explain(pod);
  Answer answer;
  for (const sched::NodeExplanation& node : explanation.nodes) {
    answer.nodes[node.node] = {.code = node.code, .plugin = node.plugin, .reasons = node.reasons};
  }
  answer.message = explanation.message;
  if (question.answer && question.answer->preemption) {
    answer.preemption = preemption_for(question, pod);
  }
  if (!with_scores) return answer;
  const std::set<std::string> scoring = scoring_plugins(question);
  for (const sched::Candidate& node : engine.candidates(pod, question.nodes.size())) {
    Scores& scores = answer.scores[node.node];
    for (const std::string& plugin : scoring) scores[plugin] = {};
    for (const sched::PluginScore& each : node.scores) {
      if (!scoring.contains(each.plugin)) continue;
      scores[each.plugin] = {.normalized = each.score, .weighted = each.score * each.weight};
    }
  }
  return answer;
}

}  // namespace bench::verdicts
