// Labels that GPU feature discovery has taken back, and will most likely write again.
//
// When GPU feature discovery ends it removes what it wrote, and node feature discovery then removes
// its labels: whenever its DaemonSet is updated, its configuration changes, or mig-manager stops it
// while it repartitions GPUs. The device plugin offers the same pieces meanwhile. Without the
// labels, replicas and instances would seem to be whole GPUs: pods would get them as such, and
// quotas would charge each as a GPU. So what the labels said stays in the node's facts until the
// node is labelled anew, however long that takes: what the GPUs are, and their charge class, are
// read from it, too. Pods that select nodes by a label, however, do not find it.
//
// Labels are kept only if GPU feature discovery wrote them: its sharing strategy was among them
// (from v0.15 on). They are not if the GPU operator's label says that it shall not run on the node.
// This process does not know labels that were taken back before it began.
//
// Source: NVIDIA k8s-device-plugin, cmd/gpu-feature-discovery/main.go (removeOutputFile).
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/labels.h"

namespace sched {

// Adds what is kept to the node's facts, which come from its Node object, and reads its GPUs anew.
// `before`: what they were; null: the node is new. O(labels) while labels are kept, else O(1).
void keep_labels(NodeFacts& facts, const NodeFacts* before, const ResourceNames& names,
                 const gpu::SiteLabels& site);

}  // namespace sched
