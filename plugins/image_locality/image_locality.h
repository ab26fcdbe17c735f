// ImageLocality: nodes are better that have the pod's images already, the more so the larger these
// are.
//
// An image counts with its size on the node times the share of all nodes that have it: one that
// only few have would draw all its pods to these. Of the sum over the images of the pod's
// containers, init containers and image volumes 23 MiB and less score 0, and 1,000 MiB for each
// container and more score 100.
//
// The engine counts it as what nodes bring along themselves. This keeps which images are on which
// nodes, of profiles that use it alone.
// Source: kube-scheduler ImageLocality, Score. Where nodes disagree about the size of an image,
// kube-scheduler goes by the node that it heard of first, this by the node in question.
// Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_image_locality(k8s::yaml::ObjectReader& args);

}  // namespace plugins
