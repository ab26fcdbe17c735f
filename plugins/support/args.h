// What the arguments of all plugins have in common.
#pragma once

#include "k8s-client/yaml/object_reader.h"

#include <string_view>

namespace plugins {

// Reads `kind` and `apiVersion`, which kube-scheduler allows in `args` and does not need. If given,
// they must be those of the plugin.
inline void read_type(k8s::yaml::ObjectReader& args, std::string_view kind) {
  args.one_of("kind", {kind});
  args.one_of("apiVersion", {"kubescheduler.config.k8s.io/v1"});
}

}  // namespace plugins
