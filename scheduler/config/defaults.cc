#include "scheduler/config/defaults.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sched::config {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kEnginePoints{{
    {"PrioritySort", "queueSort"},
    {"SchedulingGates", "preEnqueue"},
    {"DefaultBinder", "bind"},
}};

// Kubernetes 1.36: the default plugins and those behind gates.
constexpr std::array<std::string_view, 23> kUpstream{
    "SchedulingGates",
    "PrioritySort",
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
    "NodeDeclaredFeatures",
    "GangScheduling",
    "TopologyPlacementGenerator",
    "PodGroupPodsCount",
};

constexpr std::array<std::string_view, 8> kOfReplays{
    "GpuDevices",      "Fgd",          "BestFit",      "DotProd", "GpuClustering",
    "GpuPackingScore", "RandomDevice", "MigPlacement",
};

}  // namespace

bool scores_by_default(const PluginEntry& entry) {
  return entry.scores && entry.on_by_default && entry.name != "NodeResourcesFit";
}

std::string_view default_args(std::string_view plugin) {
  // The preferences of other pods do not affect a pod without preferences. Otherwise a user who may
  // create pods could keep all others' pods off the nodes of their choice.
  if (plugin == "InterPodAffinity") return "ignorePreferredTermsOfExistingPods: true";
  // No default constraints: these would need Services and owners of pods.
  if (plugin == "PodTopologySpread") return "defaultingType: List";
  if (plugin != "NodeResourcesFit") return {};
  return "scoringStrategy: {type: MostAllocated, "
         "resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}";
}

std::optional<std::string_view> engine_point_of(std::string_view plugin) {
  for (const auto& [name, point] : kEnginePoints) {
    if (name == plugin) return point;
  }
  return std::nullopt;
}

bool is_upstream_plugin(std::string_view plugin) {
  return std::find(kUpstream.begin(), kUpstream.end(), plugin) != kUpstream.end();
}

bool is_replay_plugin(std::string_view plugin) {
  return std::find(kOfReplays.begin(), kOfReplays.end(), plugin) != kOfReplays.end();
}

}  // namespace sched::config
