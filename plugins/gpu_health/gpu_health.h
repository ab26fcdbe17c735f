// GpuHealth: keeps pods that ask for devices off nodes with GPUs that are not healthy.
//
// Device plugins serve every extended resource, so each of them counts as a device; pods without
// devices may go anywhere. A node takes no pod with devices while
//   * its MIG configuration is being changed, or could not be (label nvidia.com/mig.config.state:
//     pending, rebooting, failed);
//   * one of `unhealthyConditions` reports a problem: True, or False for a type that ends in
//     "Ready". Default: those of node-problem-detector, of AKS for GPU nodes, and of the EKS node
//     monitoring agent with which a pod most likely fails;
//   * it has one of `unhealthyTaints` (effect NoSchedule or NoExecute) that the pod does not
//     tolerate by key. A toleration without a key is not meant for broken nodes, so it does not
//     count here; it counts as always elsewhere;
//   * it is backed off, because its kubelet rejected pods with devices one after the other
//     (scheduler/engine/backoffs/black_holes.h; `rejectedPods` within `rejectedWithinSeconds`, for
//     `initialBackoffSeconds` … `maxBackoffSeconds`). A back-off is for all profiles: these four
//     arguments are those of the first profile with this plugin, and different ones in another
//     profile are an error.
// Its verdicts come after kube-scheduler's filters and never replace their messages. Its answers
// follow from the Node object and from the back-off; it reads no clock.
#pragma once

#include "scheduler/framework/registry.h"
#include "scheduler/gpu/health.h"

#include <string>
#include <vector>

namespace plugins {

struct GpuHealthArgs {
  std::vector<std::string> unhealthy_conditions;  // types, sorted
  std::vector<std::string> unhealthy_taints;      // keys, sorted
  sched::gpu::RejectionLimits rejections;
  friend bool operator==(const GpuHealthArgs&, const GpuHealthArgs&) = default;
};

// The default values of arguments.
[[nodiscard]] GpuHealthArgs default_gpu_health_args();
[[nodiscard]] GpuHealthArgs read_gpu_health_args(k8s::yaml::ObjectReader& args);

[[nodiscard]] sched::PluginInstance make_gpu_health(k8s::yaml::ObjectReader& args);

}  // namespace plugins
