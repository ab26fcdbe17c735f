#include "plugins/registry.h"

#include "plugins/factories.h"

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
       .score_args = {"scoringStrategy"},
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
       .score_args = {"placement"},
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
       .score_args = {"hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"},
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
