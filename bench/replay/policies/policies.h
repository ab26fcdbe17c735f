// The policies that come with the program: profiles by name.
//
// A policy is a KubeSchedulerConfiguration like any other, built into the program. Those of
// manifests/policies can be given to a live scheduler as they are; those of bench/policies name
// plugins that bench alone has. A policy of one's own is a file.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/config/config.h"
#include "scheduler/framework/registry.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct Policy {
  std::string name;    // as given: "fgd", or the file's name without folder and extension
  std::string file;    // for messages
  std::string config;  // YAML text
};

// Those built in, by name: best_fit, default, dot_prod, fgd, …
[[nodiscard]] const std::vector<Policy>& built_in_policies();

// A built-in one, or what `name_or_file` holds; the error names those there are.
[[nodiscard]] k8s::Result<Policy> find_policy(const std::string& name_or_file);

// The profile for one run: the policy's only profile, its tie-break and whatever else it draws
// seeded with `seed`.
[[nodiscard]] k8s::Result<sched::config::Configuration> configure(const Policy& policy,
                                                                  const sched::Registry& registry,
                                                                  std::uint64_t seed);

}  // namespace bench::replay
