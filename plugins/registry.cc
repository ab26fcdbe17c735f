#include "plugins/registry.h"

#include "plugins/default_preemption/default_preemption.h"
#include "plugins/device_classes/device_classes.h"
#include "plugins/gpu_health/gpu_health.h"
#include "plugins/gpu_packing/gpu_packing.h"
#include "plugins/gpu_sharing/gpu_sharing.h"
#include "plugins/gpu_type/gpu_type.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/mig_fit/mig_fit.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/unsupported_constraints/unsupported_constraints.h"
#include "plugins/usable_gpu/usable_gpu.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace plugins {

const sched::Registry& registry() {
  static const sched::Registry kRegistry = {
      // kube-scheduler's plugins, in its order. Its weights are 3, 2 and 1, beside scores that do
      // not exist here. The weights here put an administrator's soft taints before what a user
      // prefers of nodes and of nearby pods, and that before GPU packing
      // (scheduler/config/defaults.h).
      {.name = "NodeUnschedulable", .filters = true, .make = make_node_unschedulable},
      {.name = "NodeName", .filters = true, .make = make_node_name},
      {.name = "TaintToleration",
       .filters = true,
       .scores = true,
       .default_weight = 30,
       .make = make_taint_toleration},
      {.name = "NodeAffinity",
       .filters = true,
       .scores = true,
       .default_weight = 20,
       .make = make_node_affinity},
      {.name = "NodePorts", .filters = true, .make = make_node_ports},
      {.name = "NodeResourcesFit",
       .filters = true,
       .scores = true,
       .make = make_node_resources_fit},
      {.name = "NodeResourcesBalancedAllocation",
       .scores = true,
       .on_by_default = false,
       .make = make_node_resources_balanced_allocation},
      // This project's plugins.
      {.name = "GpuHealth", .filters = true, .make = make_gpu_health},
      {.name = "GpuType", .filters = true, .scores = true, .make = make_gpu_type},
      {.name = "MigFit", .filters = true, .make = make_mig_fit},
      {.name = "GpuSharing",
       .filters = true,
       .scores = true,
       .default_weight = 10,
       .make = make_gpu_sharing},
      {.name = "GpuPacking", .scores = true, .default_weight = 10, .make = make_gpu_packing},
      // The alternative to GpuPacking, for profiles that enable it.
      {.name = "UsableGpu", .scores = true, .on_by_default = false, .make = make_usable_gpu},
      {.name = "UnsupportedConstraints", .constrains = true, .make = make_unsupported_constraints},
      // kube-scheduler's plugins, in its order.
      {.name = "VolumeRestrictions", .constrains = true, .make = make_volume_restrictions},
      {.name = "NodeVolumeLimits", .constrains = true, .make = make_node_volume_limits},
      {.name = "VolumeBinding", .constrains = true, .make = make_volume_binding},
      {.name = "VolumeZone", .constrains = true, .make = make_volume_zone},
      {.name = "PodTopologySpread",
       .scores = true,
       .constrains = true,
       .default_weight = 20,
       .make = make_pod_topology_spread},
      {.name = "InterPodAffinity",
       .scores = true,
       .constrains = true,
       .default_weight = 20,
       .make = make_inter_pod_affinity},
      {.name = "ImageLocality",
       .scores = true,
       .on_by_default = false,
       .make = make_image_locality},
      {.name = "DefaultPreemption",
       .preempts = true,
       .on_by_default = false,
       .make = make_default_preemption},
      {.name = "NodeDeclaredFeatures", .constrains = true, .make = make_node_declared_features},
      {.name = "DeviceClasses", .constrains = true, .make = make_device_classes},
  };
  return kRegistry;
}

}  // namespace plugins
