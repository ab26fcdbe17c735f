// Makes profiles with plugins from `profiles[]` of the configuration.
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/registry.h"

#include <string>
#include <vector>

namespace sched::config {

// Reads `profiles` of the document and makes the plugins of each with their arguments. Without the
// list, the default profile alone. Errors go into the reader; then the result is not used.
[[nodiscard]] std::vector<Profile> read_profiles(k8s::yaml::ObjectReader& document,
                                                 const Registry& registry,
                                                 std::vector<std::string>& warnings);

}  // namespace sched::config
