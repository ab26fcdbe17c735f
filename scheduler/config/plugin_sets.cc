#include "scheduler/config/plugin_sets.h"

#include "scheduler/config/defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace sched::config {

namespace {

using k8s::yaml::ObjectReader;

constexpr std::int64_t kMaxWeight = 1'000'000;

// The role that an extension point stands for.
enum class Point { kMulti, kFilter, kPostFilter, kScore, kElsewhere };

struct NamedPoint {
  std::string_view name;
  Point point;
};

constexpr std::array<NamedPoint, 15> kPoints{{
    {"multiPoint", Point::kMulti},
    {"preEnqueue", Point::kElsewhere},
    {"queueSort", Point::kElsewhere},
    {"preFilter", Point::kFilter},
    {"filter", Point::kFilter},
    {"postFilter", Point::kPostFilter},
    {"preScore", Point::kScore},
    {"score", Point::kScore},
    {"reserve", Point::kElsewhere},
    {"permit", Point::kElsewhere},
    {"preBind", Point::kElsewhere},
    {"bind", Point::kElsewhere},
    {"postBind", Point::kElsewhere},
    {"placementGenerate", Point::kElsewhere},
    {"placementScore", Point::kElsewhere},
}};

struct Enabled {
  const PluginEntry* entry = nullptr;
  std::optional<std::int64_t> weight;
};

// The lists of one extension point, checked. Names of plugins that are part of the engine, and of
// upstream's plugins that are off anyway, are left out.
struct PointSet {
  NamedPoint at{};
  std::vector<Enabled> enabled;
  std::vector<const PluginEntry*> disabled;
  bool all_disabled = false;
};

bool takes_part(const PluginEntry& entry, Point point) {
  switch (point) {
    case Point::kMulti:
      return true;
    case Point::kFilter:
      return entry.filters || entry.constrains;
    case Point::kPostFilter:
      return entry.preempts;
    case Point::kScore:
      return entry.scores;
    case Point::kElsewhere:
      return false;
  }
  return false;
}

std::optional<std::int64_t> read_weight(ObjectReader& item, const NamedPoint& at,
                                        const PluginEntry* entry) {
  const auto weight = item.integer("weight", {.min = 1, .max = kMaxWeight});
  if (!weight) return std::nullopt;
  const bool counts = (at.point == Point::kMulti || at.name == "score") && entry && entry->scores;
  if (!counts) {
    item.complain("weight",
                  "has no effect here; only plugins that score have a weight, under "
                  "score or multiPoint");
  }
  return weight;
}

// Reads one item of an `enabled` list.
void read_enabled(ObjectReader& item, const Registry& registry, PointSet& set) {
  const std::string name = item.string("name").value_or("");
  const PluginEntry* entry = find_plugin(registry, name);
  if (name.empty()) return item.complain("", "needs a name");
  // The name is checked before the weight, so that a misspelt plugin gets an error about its name.
  if (entry == nullptr && !engine_point_of(name)) {
    return item.complain("name", unusable_plugin(name, registry));
  }
  const auto weight = read_weight(item, set.at, entry);
  if (const auto engine_point = engine_point_of(name)) {
    if (set.at.point != Point::kMulti && set.at.name != *engine_point) {
      item.complain("name",
                    fmt::format("{} works at {}, not at {}", name, *engine_point, set.at.name));
    }
    return;
  }
  if (!takes_part(*entry, set.at.point)) {
    return item.complain("name", fmt::format("{} does nothing at {}", name, set.at.name));
  }
  const bool twice = std::any_of(set.enabled.begin(), set.enabled.end(),
                                 [&](const Enabled& other) { return other.entry == entry; });
  if (twice) return item.complain("name", fmt::format("{} is enabled twice", name));
  set.enabled.push_back({entry, weight});
}

// Reads one item of a `disabled` list.
void read_disabled(ObjectReader& item, const Registry& registry, PointSet& set,
                   std::vector<std::string>& warnings) {
  const std::string name = item.string("name").value_or("");
  if (name.empty()) return item.complain("", "needs a name, or \"*\" for all");
  if (name == "*") {
    set.all_disabled = true;
    return;
  }
  if (engine_point_of(name)) {
    return item.complain("name", name + " is part of the engine and cannot be disabled");
  }
  const PluginEntry* entry = find_plugin(registry, name);
  if (entry == nullptr) {
    if (!is_upstream_plugin(name)) item.complain("name", unusable_plugin(name, registry));
    return;
  }
  if (!takes_part(*entry, set.at.point)) {
    return item.complain("name", fmt::format("{} does nothing at {}; there is nothing to disable",
                                             name, set.at.name));
  }
  if (entry->constrains && set.at.point != Point::kScore) {
    warnings.push_back(fmt::format(
        "{}:{}: {}: {} is disabled: pods that it would hold back are placed as if they had not "
        "asked for what cannot be given",
        item.file(), item.value().line, item.value().path, name));
  }
  set.disabled.push_back(entry);
}

void switch_roles(PluginUse& use, Point point, bool on) {
  const PluginEntry& entry = *use.entry;
  if (point == Point::kMulti || point == Point::kFilter) {
    use.filter = on && entry.filters;
    use.constraint = on && entry.constrains;
  }
  if (point == Point::kMulti || point == Point::kPostFilter) use.preemption = on && entry.preempts;
  if (point == Point::kMulti || point == Point::kScore) use.score = on && entry.scores;
}

void disable_all(std::vector<PluginUse>& uses, Point point) {
  for (PluginUse& use : uses) {
    const bool constraint = use.constraint;
    switch_roles(use, point, false);
    use.constraint = constraint;
  }
}

PluginUse& use_of(std::vector<PluginUse>& uses, const PluginEntry* entry) {
  return *std::find_if(uses.begin(), uses.end(),
                       [&](const PluginUse& use) { return use.entry == entry; });
}

void apply(const std::vector<PointSet>& sets, Point point, std::vector<PluginUse>& uses) {
  for (const PointSet& set : sets) {
    if (set.at.point != point) continue;
    if (set.all_disabled) disable_all(uses, point);
    for (const PluginEntry* entry : set.disabled) switch_roles(use_of(uses, entry), point, false);
  }
  for (const PointSet& set : sets) {
    if (set.at.point != point) continue;
    for (const Enabled& enabled : set.enabled) {
      PluginUse& use = use_of(uses, enabled.entry);
      switch_roles(use, point, true);
      // Enabled without a weight means 1, as with upstream, not the default profile's weight.
      if (point == Point::kMulti || set.at.name == "score") use.weight = enabled.weight.value_or(1);
    }
  }
}

// Complains of plugins that are switched off by name at one step, and on at the other step of the
// same role.
void complain_of_contradictions(ObjectReader& plugins, const std::vector<PointSet>& sets) {
  for (const PointSet& on : sets) {
    for (const PointSet& off : sets) {
      if (on.at.point != off.at.point || on.at.point == Point::kElsewhere) continue;
      for (const Enabled& enabled : on.enabled) {
        if (std::count(off.disabled.begin(), off.disabled.end(), enabled.entry) == 0) continue;
        if (on.at.name == off.at.name) continue;  // upstream's form for "only this weight"
        plugins.complain(on.at.name, fmt::format("{} is enabled here and disabled under {}, which "
                                                 "is the same step in this scheduler",
                                                 enabled.entry->name, off.at.name));
      }
    }
  }
}

}  // namespace

std::vector<PluginUse> default_uses(const Registry& registry) {
  std::vector<PluginUse> uses;
  for (const PluginEntry& entry : registry) {
    const bool on = entry.on_by_default;
    uses.push_back({.entry = &entry,
                    .filter = on && entry.filters,
                    .score = scores_by_default(entry),
                    .constraint = on && entry.constrains,
                    .preemption = on && entry.preempts,
                    .weight = entry.default_weight});
  }
  return uses;
}

void read_plugin_sets(ObjectReader& plugins, const Registry& registry, std::vector<PluginUse>& uses,
                      std::vector<std::string>& warnings) {
  std::vector<PointSet> sets;
  for (const NamedPoint& at : kPoints) {
    plugins.object(at.name, [&](ObjectReader& lists) {
      PointSet& set = sets.emplace_back();
      set.at = at;
      lists.objects("enabled", [&](ObjectReader& item) { read_enabled(item, registry, set); });
      lists.objects("disabled",
                    [&](ObjectReader& item) { read_disabled(item, registry, set, warnings); });
    });
  }
  complain_of_contradictions(plugins, sets);
  apply(sets, Point::kMulti, uses);
  apply(sets, Point::kFilter, uses);
  apply(sets, Point::kPostFilter, uses);
  apply(sets, Point::kScore, uses);
}

std::string unusable_plugin(std::string_view plugin, const Registry& registry) {
  if (is_upstream_plugin(plugin)) {
    return fmt::format("{} is not built in this scheduler; it may only be named as disabled",
                       plugin);
  }
  if (is_replay_plugin(plugin)) {
    return fmt::format(
        "{} is for replays only and not in this scheduler; manifests/policies/README.md says what "
        "to use instead",
        plugin);
  }
  std::string known;
  for (const PluginEntry& entry : registry) known += fmt::format("{} ", entry.name);
  return fmt::format(
      "unknown plugin \"{}\"; known are: {}PrioritySort SchedulingGates DefaultBinder", plugin,
      known);
}

}  // namespace sched::config
