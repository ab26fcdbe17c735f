#include "bench/replay/policies/policies.h"

#include "bench/policies/published/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace bench::replay {
namespace {

std::string known_names() {
  std::vector<std::string_view> names;
  for (const Policy& policy : built_in_policies()) names.push_back(policy.name);
  return fmt::format("{}", fmt::join(names, ", "));
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
  if (profile.preemption) {
    return k8s::config_error(fmt::format(
        "{}: DefaultPreemption: in a replay no pod is evicted; leave it out", policy.file));
  }
  profile.tie_break.seed = seed;
  for (sched::WeightedScore& score : profile.scores) {
    if (score.plugin->name() == "RandomDevice") score.plugin = make_random_device(seed).score;
  }
  return configuration;
}

}  // namespace bench::replay
