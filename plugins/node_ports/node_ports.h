// NodePorts: no two pods on one node with the same host port. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_ports(k8s::yaml::ObjectReader& args);

}  // namespace plugins
