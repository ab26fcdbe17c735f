// The default profile, and the plugin names that are accepted although the registry has no such
// plugin.
//
// The default profile serves `gpu-scheduler`: every built-in filter is on, and the weights
// (plugins/registry.cc) give an order. An administrator's soft taints come first (30), then what a
// user prefers of nodes and of nearby pods (20), then GPU packing, which also keeps pods without
// GPU off GPU nodes (10). Among equal nodes the first is taken, which fills them by name. Scoring
// by cpu and memory is left out on purpose: even as the last criterion it undoes GPU packing when
// pods come and go (bench/replay/README.md). manifests/base/config.yaml has the same profile in
// full.
#pragma once

#include "scheduler/framework/registry.h"

#include <optional>
#include <string_view>

namespace sched::config {

inline constexpr std::string_view kDefaultSchedulerName = "gpu-scheduler";

// Whether the plugin scores in the default profile.
[[nodiscard]] bool scores_by_default(const PluginEntry& entry);

// The plugin's `args` in the default profile, as YAML; empty: none. An entry in pluginConfig
// replaces them as a whole.
[[nodiscard]] std::string_view default_args(std::string_view plugin);

// kube-scheduler's plugins that are part of the engine, with the one extension point of each:
// PrioritySort, SchedulingGates, DefaultBinder. nullopt: another plugin.
[[nodiscard]] std::optional<std::string_view> engine_point_of(std::string_view plugin);

// Whether it is a plugin of kube-scheduler. If the registry does not have it, it is not built here.
[[nodiscard]] bool is_upstream_plugin(std::string_view plugin);

// Whether it is a plugin of bench/policies, which no scheduler has.
[[nodiscard]] bool is_replay_plugin(std::string_view plugin);

}  // namespace sched::config
