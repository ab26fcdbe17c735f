// NodeName: a pod whose spec already names a node fits there only. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_name(k8s::yaml::ObjectReader& args);

}  // namespace plugins
