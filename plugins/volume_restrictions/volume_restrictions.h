// VolumeRestrictions: a claim of access mode ReadWriteOncePod is for one pod at a time.
//
// While a pod on a node has such a claim, no other pod is placed that needs it; and a pod waits for
// claims that are missing. (In-line disks that one node at a time can mount, which kube-scheduler's
// plugin of that name looks at as well, are UnsupportedConstraints'.) Without arguments.
//
// Source: kube-scheduler, plugins/volumerestrictions.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_restrictions(k8s::yaml::ObjectReader& args);

}  // namespace plugins
