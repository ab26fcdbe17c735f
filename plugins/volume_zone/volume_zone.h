// VolumeZone: a pod goes to the zones and regions that its bound volumes are labelled with.
//
// Nodes without any such label are left alone. A pod waits where a volume that its claim names is
// missing. Without arguments.
//
// Source: kube-scheduler, plugins/volumezone.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_zone(k8s::yaml::ObjectReader& args);

}  // namespace plugins
