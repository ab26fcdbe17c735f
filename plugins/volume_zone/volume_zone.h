// VolumeZone: a pod goes to the zones and regions that the labels of its bound volumes name.
//
// Nodes without any such label are not excluded. A pod waits while a volume that its claim names is
// missing. Without arguments.
//
// Source: kube-scheduler, plugins/volumezone.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_zone(k8s::yaml::ObjectReader& args);

}  // namespace plugins
