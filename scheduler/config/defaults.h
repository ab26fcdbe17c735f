// What a profile is when nothing is said, and the names that mean something without being plugins
// of ours.
//
// The default profile serves `gpu-scheduler`: every filter that is built in is on, and the weights
// (plugins/registry.cc) put a cluster's wishes in order. An administrator's soft taints come first
// (30), then what a user prefers of nodes and of pods nearby (20), then GPU packing, which also
// keeps pods without GPU off GPU nodes (10). The first of equal nodes is taken, which fills them by
// name. Scoring by cpu and memory as well is left out on purpose: even as the last word it undoes
// GPU packing once pods come and go (bench/replay/README.md). manifests/base/config.yaml says the
// same in full.
#pragma once

#include "scheduler/framework/registry.h"

#include <optional>
#include <string_view>

namespace sched::config {

inline constexpr std::string_view kDefaultSchedulerName = "gpu-scheduler";

// Whether the plugin scores in the default profile.
[[nodiscard]] bool scores_by_default(const PluginEntry& entry);

// The plugin's `args` in the default profile, as YAML; empty: none. A pluginConfig entry replaces
// them as a whole.
[[nodiscard]] std::string_view default_args(std::string_view plugin);

// kube-scheduler's plugins that the engine itself is, with the one extension point of each:
// PrioritySort, SchedulingGates, DefaultBinder. nullopt: not one of them.
[[nodiscard]] std::optional<std::string_view> engine_point_of(std::string_view plugin);

// A plugin of kube-scheduler. One that is not in the registry is not built here.
[[nodiscard]] bool is_upstream_plugin(std::string_view plugin);

// A plugin of bench/policies, which no scheduler has.
[[nodiscard]] bool is_replay_plugin(std::string_view plugin);

}  // namespace sched::config
