#include "bench/verdicts/judge.h"

#include "plugins/registry.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <string>
#include <utility>

namespace bench::verdicts {

namespace {

constexpr const char* kProfileName = "kube-parity";

sched::Profile parity_profile() {
  sched::Profile profile;
  profile.scheduler_name = kProfileName;
  const k8s::yaml::Value no_args;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    if (!built_filters().contains(std::string(entry.name))) continue;
    k8s::yaml::ObjectReader args(no_args, "");
    profile.filters.push_back(entry.make(args).filter);
  }
  return profile;
}

sched::Engine engine_with(const Case& question) {
  std::vector<sched::Profile> profiles;
  profiles.push_back(parity_profile());
  sched::Engine engine(std::move(profiles), {});
  const sched::Time now{};
  for (const auto& each : question.namespaces) {
    engine.apply(sched::event::NamespaceUpserted{each}, now);
  }
  for (const auto& each : question.volumes) engine.apply(sched::event::VolumeUpserted{each}, now);
  for (const auto& each : question.claims) engine.apply(sched::event::ClaimUpserted{each}, now);
  for (const auto& each : question.device_classes) {
    engine.apply(sched::event::DeviceClassUpserted{each}, now);
  }
  for (const auto& each : question.nodes) engine.apply(sched::event::NodeUpserted{each}, now);
  for (std::size_t i = 0; i < question.pods.size(); ++i) {
    k8s::Pod pod = question.pods[i];
    // The engine tells pods apart by uid, which a case that was written by hand may leave out.
    if (pod.metadata.uid.empty()) pod.metadata.uid = "pods[" + std::to_string(i) + "]";
    engine.apply(sched::event::PodUpserted{pod}, now);
  }
  engine.apply(sched::event::Synced{}, now);
  return engine;
}

}  // namespace

const std::set<std::string>& built_filters() {
  static const std::set<std::string> kNames = {"NodeUnschedulable", "NodeName",
                                               "TaintToleration",   "NodeAffinity",
                                               "NodePorts",         "NodeResourcesFit"};
  return kNames;
}

Answer judge(const Case& question) {
  const sched::Engine engine = engine_with(question);
  // Whoever the pod asks for, it is this profile that is to judge it.
  k8s::Pod pod = question.pod;
  pod.spec.scheduler_name = kProfileName;
  const sched::Explanation explanation = engine.explain(pod);
  Answer answer;
  for (const sched::NodeExplanation& node : explanation.nodes) {
    answer.nodes[node.node] = {.code = node.code, .plugin = node.plugin, .reasons = node.reasons};
  }
  answer.message = explanation.message;
  return answer;
}

}  // namespace bench::verdicts
