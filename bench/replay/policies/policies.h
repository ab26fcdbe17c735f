// The policies that come with the program: profiles by name.
//
// A policy is a KubeSchedulerConfiguration like any other, built into the program. Those of
// manifests/policies can be given to a live scheduler unchanged; those of bench/policies name
// plugins that only bench has. A user's own policy is a file.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/config/config.h"
#include "scheduler/framework/registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::replay {

struct Policy {
  std::string name;    // as given: "fgd", or the file's name without folder and extension
  std::string file;    // for messages
  std::string config;  // YAML text
};

// The built-in ones, by name: best_fit, default, dot_prod, fgd, …
[[nodiscard]] const std::vector<Policy>& built_in_policies();

// A built-in one, or the contents of the file `name_or_file`; the error lists the built-in ones.
[[nodiscard]] k8s::Result<Policy> find_policy(const std::string& name_or_file);

// The profile for one run: the policy's only profile, with its tie-break and all other draws seeded
// with `seed`.
[[nodiscard]] k8s::Result<sched::config::Configuration> configure(const Policy& policy,
                                                                  const sched::Registry& registry,
                                                                  std::uint64_t seed);

}  // namespace bench::replay
