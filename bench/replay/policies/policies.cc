#include "bench/replay/policies/policies.h"

#include "k8s-client/yaml/object_reader.h"
#include "k8s-client/yaml/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

namespace bench::replay {
namespace {

constexpr std::string_view kRandomDevice = "RandomDevice";

std::string known_names() {
  std::vector<std::string_view> names;
  for (const Policy& policy : built_in_policies()) names.push_back(policy.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// RandomDevice draws, so it is made anew with the run's seed.
k8s::Result<sched::PluginInstance> seeded_random_device(const sched::Registry& registry,
                                                        std::uint64_t seed) {
  const sched::PluginEntry* entry = sched::find_plugin(registry, kRandomDevice);
  if (entry == nullptr) return k8s::config_error(fmt::format("no plugin {}", kRandomDevice));
  k8s::yaml::Value number;
  // Arguments are signed.
  number.data = static_cast<std::int64_t>(seed & std::numeric_limits<std::int64_t>::max());
  k8s::yaml::Value args;
  args.data = k8s::yaml::Value::Map{{"seed", std::move(number)}};
  k8s::yaml::ObjectReader reader(args, "seed");
  sched::PluginInstance made = entry->make(reader);
  if (auto error = reader.finish()) return tl::unexpected<k8s::Error>(std::move(*error));
  return made;
}

}  // namespace

k8s::Result<Policy> find_policy(const std::string& name_or_file) {
  for (const Policy& policy : built_in_policies()) {
    if (policy.name == name_or_file) return policy;
  }
  const std::filesystem::path path(name_or_file);
  std::ifstream in(path);
  std::error_code not_there;
  if (!in || !std::filesystem::is_regular_file(path, not_there)) {
    return k8s::config_error(
        fmt::format("policy \"{}\": neither built in nor a file that can be read; built in are {}",
                    name_or_file, known_names()));
  }
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return Policy{.name = path.stem().string(), .file = name_or_file, .config = std::move(text)};
}

k8s::Result<sched::config::Configuration> configure(const Policy& policy,
                                                    const sched::Registry& registry,
                                                    std::uint64_t seed) {
  auto configuration = sched::config::parse(policy.config, policy.file, registry);
  if (!configuration) return configuration;
  if (configuration->profiles.size() != 1) {
    return k8s::config_error(fmt::format("{}: {} profiles; a policy is one", policy.file,
                                         configuration->profiles.size()));
  }
  sched::Profile& profile = configuration->profiles.front();
  profile.tie_break.seed = seed;
  for (sched::WeightedScore& score : profile.scores) {
    if (score.plugin->name() != kRandomDevice) continue;
    auto seeded = seeded_random_device(registry, seed);
    if (!seeded) return tl::unexpected<k8s::Error>(std::move(seeded.error()));
    score.plugin = std::move(seeded->score);
  }
  return configuration;
}

}  // namespace bench::replay
