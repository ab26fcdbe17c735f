// Makes each built-in plugin from its arguments. What a plugin does, and which arguments it has, is
// at the top of its source: plugins/node_name/node_name.cc for make_node_name.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

// Errors in `args` go into the reader; then the result is not used.
[[nodiscard]] sched::PluginInstance make_default_preemption(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_device_classes(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_health(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_packing(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_sharing(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_type(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_image_locality(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_mig_fit(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_affinity(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_declared_features(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_name(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_ports(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_resources_balanced_allocation(
    k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_resources_fit(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_unschedulable(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_taint_toleration(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_unsupported_constraints(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_usable_gpu(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_volume_binding(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_volume_restrictions(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_volume_zone(k8s::yaml::ObjectReader& args);

}  // namespace plugins
