// NodeVolumeLimits: how many volumes of a CSI driver a node can have attached.
//
// A node's CSINode says how many volumes of each driver it takes. Those that its pods use count
// once each, and so do attachments of volumes that no pod there uses (any more). What counts as a
// volume: volume_users.h. Without arguments.
//
// Source: kube-scheduler, plugins/nodevolumelimits/csi.go.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& args);

}  // namespace plugins
