// Which plugins a profile uses, in which roles and with which weights: `profiles[].plugins` applied
// to the defaults.
//
// Precedence is upstream's: a specific extension point overrides an explicit multiPoint, and that
// overrides the default. A plugin here has few roles where upstream has many steps, so preFilter
// and filter are read as one set (the filter or constraint), preScore and score as another (the
// score); postFilter is preemption. Filters are always asked in kube-scheduler's order; the order
// in the file has no effect, because it could change only the text of a refusal.
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/framework/registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched::config {

// The use of one plugin in one profile.
struct PluginUse {
  const PluginEntry* entry = nullptr;
  bool filter = false;
  bool score = false;
  bool constraint = false;
  bool preemption = false;
  std::int64_t weight = 1;

  [[nodiscard]] bool any() const { return filter || score || constraint || preemption; }
};

// The uses of a profile that does not mention plugins, in the registry's order.
[[nodiscard]] std::vector<PluginUse> default_uses(const Registry& registry);

// Reads `plugins` and changes `uses` accordingly. Errors go into the reader; what is accepted but
// dangerous is added to `warnings`.
void read_plugin_sets(k8s::yaml::ObjectReader& plugins, const Registry& registry,
                      std::vector<PluginUse>& uses, std::vector<std::string>& warnings);

// Why `plugin` cannot be used, for messages: not built here, for replays only, or not known (then
// with the known names).
[[nodiscard]] std::string unusable_plugin(std::string_view plugin, const Registry& registry);

}  // namespace sched::config
