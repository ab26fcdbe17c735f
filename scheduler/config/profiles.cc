#include "scheduler/config/profiles.h"

#include "scheduler/base/qualified_name.h"
#include "scheduler/config/defaults.h"
#include "scheduler/config/plugin_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace sched::config {

namespace {

using k8s::yaml::ObjectReader;
using k8s::yaml::Value;
using Instances = std::map<const PluginEntry*, PluginInstance>;

// Upstream's arguments name their type; those of this scheduler may.
void read_type(ObjectReader& args, std::string_view plugin) {
  args.one_of("apiVersion", {"kubescheduler.config.k8s.io/v1"});
  const std::string kind = fmt::format("{}Args", plugin);
  args.one_of("kind", {kind});
}

const PluginUse* find_use(const std::vector<PluginUse>& uses, std::string_view plugin) {
  for (const PluginUse& use : uses) {
    if (use.entry->name == plugin) return &use;
  }
  return nullptr;
}

void refuse_args_of_score(ObjectReader& args, const PluginEntry& entry) {
  for (const std::string_view key : entry.score_args) {
    const Value* given = args.raw(key);
    if (given == nullptr || given->is_null()) continue;
    args.complain(key, fmt::format("has no effect, since {} does not score in this profile: "
                                   "enable it under score, or leave this out",
                                   entry.name));
  }
}

// One item of `pluginConfig`: makes the plugin that it configures.
void read_plugin_config(ObjectReader& item, const Registry& registry,
                        const std::vector<PluginUse>& uses, Instances& instances) {
  const std::string name = item.string("name").value_or("");
  if (name.empty()) return item.complain("", "needs the name of a plugin");
  if (engine_point_of(name)) return item.complain("name", name + " takes no arguments");
  const PluginUse* use = find_use(uses, name);
  if (use == nullptr) return item.complain("name", unusable_plugin(name, registry));
  if (!use->any()) {
    return item.complain("name", name +
                                     " is disabled in this profile; its arguments would have "
                                     "no effect");
  }
  if (instances.contains(use->entry)) {
    return item.complain("name", name + " is configured twice");
  }
  const Value* given = item.raw("args");
  if (given == nullptr || given->is_null()) return item.complain("args", "are missing");
  item.object("args", [&](ObjectReader& args) {
    read_type(args, name);
    instances[use->entry] = use->entry->make(args);
    if (!use->score) refuse_args_of_score(args, *use->entry);
  });
}

// A plugin with the arguments of the default profile.
PluginInstance make_default(const PluginEntry& entry, ObjectReader& reader) {
  Value args;
  if (const std::string_view text = default_args(entry.name); !text.empty()) {
    auto documents = k8s::yaml::parse(text, "default arguments");
    if (documents && !documents->empty()) args = std::move(documents->front());
  }
  ObjectReader args_reader(args, fmt::format("default arguments of {}", entry.name));
  PluginInstance instance = entry.make(args_reader);
  if (const auto error = args_reader.finish()) reader.complain("", error->message);
  return instance;
}

Profile assemble(std::string scheduler_name, const std::vector<PluginUse>& uses,
                 Instances instances, ObjectReader& reader) {
  Profile profile;
  profile.scheduler_name = std::move(scheduler_name);
  for (const PluginUse& use : uses) {
    if (!use.any()) continue;
    const auto made = instances.find(use.entry);
    PluginInstance instance =
        made != instances.end() ? std::move(made->second) : make_default(*use.entry, reader);
    if (use.filter && instance.filter) profile.filters.push_back(std::move(instance.filter));
    if (use.score && instance.score) {
      profile.scores.push_back({std::move(instance.score), use.weight});
    }
    if (use.preemption) profile.preemption = instance.preemption;
    if (instance.constraint) {
      profile.constraints.emplace_back(std::move(instance.constraint), use.constraint,
                                       use.score ? use.weight : 0);
    }
  }
  return profile;
}

// `tieBreak` and `tieBreakSeed`; upstream does not have them.
TieBreak read_tie_break(ObjectReader& item) {
  static const std::map<std::string, TieBreak::Order> kOrders = {
      {"first-node", TieBreak::Order::kFirstNode},
      {"shuffled-nodes", TieBreak::Order::kShuffledNodes},
      {"fewest-gpus-first", TieBreak::Order::kFewestGpusFirst},
      {"random", TieBreak::Order::kRandom}};
  TieBreak tie_break;
  if (const auto order = item.one_of(
          "tieBreak", {"first-node", "shuffled-nodes", "fewest-gpus-first", "random"})) {
    tie_break.order = kOrders.at(*order);
  }
  if (const auto seed = item.integer("tieBreakSeed", {.min = 0})) {
    tie_break.seed = static_cast<std::uint64_t>(*seed);
    const bool drawn = tie_break.order == TieBreak::Order::kShuffledNodes ||
                       tie_break.order == TieBreak::Order::kRandom;
    if (!drawn) {
      item.complain("tieBreakSeed", "has an effect with shuffled-nodes and random only");
    }
  }
  return tie_break;
}

// Allowed for users who replace kube-scheduler on purpose. Beside a kube-scheduler it is a mistake
// that is noticed late.
void warn_of_default_scheduler(const ObjectReader& item, std::vector<std::string>& warnings) {
  warnings.push_back(fmt::format(
      "{}:{}: {}.schedulerName: default-scheduler is what pods have that name no scheduler, those "
      "of the system too; a kube-scheduler that serves them as well must be stopped, since both "
      "would place the same pods",
      item.file(), item.value().line, item.value().path));
}

Profile read_profile(ObjectReader& item, const Registry& registry,
                     std::vector<std::string>& warnings) {
  std::string name = item.string("schedulerName").value_or("");
  if (name.empty()) {
    item.complain("schedulerName", "is missing; it is what pods ask for in spec.schedulerName");
  } else if (!is_qualified_name(name)) {
    // Its events carry it as their reporting controller.
    item.complain("schedulerName",
                  fmt::format("\"{}\" is no name such as gpu-scheduler; the API server would "
                              "refuse every event about its pods",
                              name));
  }
  if (name == "default-scheduler") warn_of_default_scheduler(item, warnings);
  const auto percentage = item.integer("percentageOfNodesToScore", {.min = 0, .max = 100});
  if (percentage && *percentage != 0 && *percentage != 100) {
    item.complain("percentageOfNodesToScore",
                  "only 0 or 100: this scheduler always looks at every node");
  }
  const TieBreak tie_break = read_tie_break(item);
  std::vector<PluginUse> uses = default_uses(registry);
  item.object("plugins",
              [&](ObjectReader& plugins) { read_plugin_sets(plugins, registry, uses, warnings); });
  Instances instances;
  item.objects("pluginConfig", [&](ObjectReader& config) {
    read_plugin_config(config, registry, uses, instances);
  });
  Profile profile = assemble(std::move(name), uses, std::move(instances), item);
  profile.tie_break = tie_break;
  return profile;
}

// A node is backed off for all profiles or for none. Profiles without limits use those of the first
// profile that sets them.
void check_rejection_limits(const std::vector<Profile>& others, const Profile& profile,
                            ObjectReader& item) {
  const FilterPlugin* filter = filter_with_rejection_limits(profile);
  if (filter == nullptr || *filter->rejection_limits() == gpu::RejectionLimits{}) return;
  for (const Profile& other : others) {
    const FilterPlugin* in_force = filter_with_rejection_limits(other);
    if (in_force == nullptr) continue;
    if (*filter->rejection_limits() == *in_force->rejection_limits()) return;
    return item.complain(
        "pluginConfig",
        fmt::format(
            "GpuHealth: rejectedPods, rejectedWithinSeconds, initialBackoffSeconds and "
            "maxBackoffSeconds are those of profile \"{}\" for all: leave them out here, or "
            "repeat them",
            other.scheduler_name));
  }
}

}  // namespace

std::vector<Profile> read_profiles(ObjectReader& document, const Registry& registry,
                                   std::vector<std::string>& warnings) {
  std::vector<Profile> profiles;
  document.objects("profiles", [&](ObjectReader& item) {
    Profile profile = read_profile(item, registry, warnings);
    const bool twice = std::any_of(profiles.begin(), profiles.end(), [&](const Profile& other) {
      return other.scheduler_name == profile.scheduler_name;
    });
    if (twice) {
      item.complain("schedulerName",
                    fmt::format("\"{}\" has a profile already", profile.scheduler_name));
    }
    check_rejection_limits(profiles, profile, item);
    profiles.push_back(std::move(profile));
  });
  const Value* list = document.value().find("profiles");
  if (list != nullptr && list->list() != nullptr && list->list()->empty()) {
    document.complain("profiles", "is empty; leave it out for the default profile");
  }
  if (profiles.empty()) {
    profiles.push_back(
        assemble(std::string(kDefaultSchedulerName), default_uses(registry), {}, document));
  }
  return profiles;
}

}  // namespace sched::config
