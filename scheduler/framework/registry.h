// The list of plugins that a program knows, and how each is made from its configuration.
//
// There is no registration behind the scenes: plugins/registry.cc lists what ships,
// bench/policies/registry.cc what replays and studies have besides, and the composition roots pass
// one of them down.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/yaml/object_reader.h"
#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// One made plugin: the roles it has.
struct PluginInstance {
  std::unique_ptr<FilterPlugin> filter;
  std::unique_ptr<ScorePlugin> score;
  std::unique_ptr<ClusterConstraint> constraint;
};

struct PluginEntry {
  std::string_view name;  // as configuration names it
  // Which roles instances have; known before one is made. A score may be what a constraint prefers;
  // `constrains` says whether that has an objection, too.
  bool filters = false;
  bool scores = false;
  bool constrains = false;
  // Of its score in the default profile.
  std::int64_t default_weight = 1;
  // False: a profile has it only if it enables it, as alternatives to the default must be.
  bool on_by_default = true;
  // Makes one from its `args` (an empty map when the configuration has none). Complaints go into
  // the reader; the result is then not used.
  PluginInstance (*make)(k8s::yaml::ObjectReader& args);
};

// In filter order: kube-scheduler's order first, ours after it.
using Registry = std::vector<PluginEntry>;

[[nodiscard]] inline const PluginEntry* find_plugin(const Registry& registry,
                                                    std::string_view name) {
  for (const PluginEntry& entry : registry) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace sched
