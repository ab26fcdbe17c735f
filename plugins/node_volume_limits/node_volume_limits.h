// NodeVolumeLimits: how many volumes of a CSI driver a node can have attached.
//
// A node's CSINode says how many volumes of each driver it takes. Those that its pods use count
// once each, and so do attachments of volumes that no pod there uses (any more); a claim without a
// volume counts as one of its class's driver. A disk of a kind that Kubernetes served itself once,
// of a claim or in-line, counts as one of the CSI driver that serves it today. Without arguments.
//
// Source: kube-scheduler, plugins/nodevolumelimits/csi.go, utils.go.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& args);

}  // namespace plugins
