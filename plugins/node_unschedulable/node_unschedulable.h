// NodeUnschedulable: no pods on cordoned nodes, except those that tolerate the taint
// node.kubernetes.io/unschedulable:NoSchedule. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_unschedulable(k8s::yaml::ObjectReader& args);

}  // namespace plugins
