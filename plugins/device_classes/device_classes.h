// DeviceClasses: reports when a GPU is served by DRA, which gpu-scheduler does not allocate yet.
//
// A DeviceClass may map an extended resource (nvidia.com/gpu) to devices of DRA. Then nodes have
// none of it in their allocatable, and "Insufficient nvidia.com/gpu" alone would mislead. The
// implicit names deviceclass.resource.kubernetes.io/CLASS are served by DRA only: a pod that asks
// for one is refused. Source: KEP-5004. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_device_classes(k8s::yaml::ObjectReader& args);

}  // namespace plugins
