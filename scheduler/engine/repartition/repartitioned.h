// The facts that a node would have if its GPUs were repartitioned: what NVIDIA's device plugin
// would offer, and what labels GPU feature discovery would write.
//
//   mixed    each profile is a resource of its own; the product and the number of GPUs stay
//   single   nvidia.com/gpu are instances: the product's label ends in "-MIG-<profile>", and
//            nvidia.com/gpu.count counts them
//
// What follows from labels and amounts is computed again, so that filters see the node as it would
// be. The memory of an instance is then taken from its profile's name, because it has not been
// measured. Source: NVIDIA k8s-device-plugin v0.20, internal/lm and internal/rm.
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/mig/configurations.h"

#include <cstdint>

namespace sched {

// The number of physical GPUs of a node, however they are partitioned; 0: its labels do not state
// it. Under `single` the labels count instances; how many of these are one GPU is known if
// mig-manager partitioned all GPUs alike by a configuration with a known name (configurations.h).
[[nodiscard]] std::int64_t physical_gpus(const NodeFacts& node);

// `node` has `gpus` GPUs, of a model with known geometry, and the strategy mixed or single; with
// single, `to` has one profile.
[[nodiscard]] NodeFacts repartitioned(const NodeFacts& node, const gpu::mig::Configuration& to,
                                      std::int64_t gpus, const ResourceNames& names,
                                      const gpu::SiteLabels& site);

}  // namespace sched
