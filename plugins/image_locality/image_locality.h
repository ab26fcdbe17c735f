// ImageLocality: nodes that already have the pod's images are better, the more so the larger the
// images are.
//
// An image counts with its size on the node times the share of all nodes that have it. Otherwise an
// image on few nodes would draw all its pods to these. The sum is over the images of the pod's
// containers, init containers and image volumes: 23 MiB and less score 0; 1,000 MiB for each
// container and more score 100.
//
// The engine counts this as the nodes' own amounts. The plugin stores which images are on which
// nodes, if a profile uses it. Source: kube-scheduler ImageLocality, Score. If nodes report
// different sizes of an image, kube-scheduler uses the size of the node that it saw first, this
// plugin that of the node in question. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_image_locality(k8s::yaml::ObjectReader& args);

}  // namespace plugins
