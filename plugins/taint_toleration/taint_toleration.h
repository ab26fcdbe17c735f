// TaintToleration: keeps pods off nodes with NoSchedule and NoExecute taints that they do not
// tolerate, and prefers nodes with few PreferNoSchedule taints that they do not tolerate. Without
// arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_taint_toleration(k8s::yaml::ObjectReader& args);

}  // namespace plugins
