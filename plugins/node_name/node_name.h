// NodeName: a pod with spec.nodeName fits only on that node. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_name(k8s::yaml::ObjectReader& args);

}  // namespace plugins
