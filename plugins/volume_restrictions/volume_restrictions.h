// VolumeRestrictions: a claim of access mode ReadWriteOncePod is for one pod at a time, and an
// in-line disk for one node or one pod at a time (disks_in_use.h).
//
// While a pod on a node has such a claim, no other pod that needs it is placed; and a pod waits for
// missing claims. Without arguments.
//
// Source: kube-scheduler, plugins/volumerestrictions.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_restrictions(k8s::yaml::ObjectReader& args);

}  // namespace plugins
