// The list of plugins of a program, and how each is made from its configuration.
//
// There is no hidden registration: plugins/registry.cc lists what ships, bench/policies/registry.cc
// what replays and studies have besides, and the composition roots pass one of them down.
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace sched {

// One made plugin: the roles it has.
struct PluginInstance {
  std::unique_ptr<FilterPlugin> filter{};
  std::unique_ptr<ScorePlugin> score{};
  std::unique_ptr<ClusterConstraint> constraint{};
  std::optional<Preemption> preemption{};
};

struct PluginEntry {
  std::string_view name;  // as configuration names it
  // The roles of its instances, known before one is made. A score may be a constraint's preference;
  // `constrains` says whether that constraint also refuses or excludes.
  bool filters = false;
  bool scores = false;
  bool constrains = false;
  bool preempts = false;
  // The weight of its score in the default profile.
  std::int64_t default_weight = 1;
  // False: a profile has it only if the configuration enables it; so for alternatives to the
  // default.
  bool on_by_default = true;
  // Arguments that its score alone reads: where it does not score they would have no effect.
  std::vector<std::string_view> score_args{};
  // Makes an instance from its `args` (an empty map if the configuration has none). Errors go into
  // the reader; then the result is not used.
  PluginInstance (*make)(k8s::yaml::ObjectReader& args);
};

// In filter order: kube-scheduler's plugins in its order, then this project's.
using Registry = std::vector<PluginEntry>;

[[nodiscard]] inline const PluginEntry* find_plugin(const Registry& registry,
                                                    std::string_view name) {
  for (const PluginEntry& entry : registry) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace sched
