// GpuHealth: keeps pods that ask for devices off nodes whose GPUs are not well.
//
// Device plugins serve every extended resource, so "a device" is any of them; pods without are not
// kept from anywhere. A node takes no such pod while
//   * its MIG configuration is being changed, or could not be (label nvidia.com/mig.config.state:
//     pending, rebooting, failed);
//   * one of `unhealthyConditions` says something is wrong: True, or False for a type that ends in
//     "Ready". Default: those of node-problem-detector, of AKS for GPU nodes, and of the EKS node
//     monitoring agent that leave a pod little hope;
//   * it has one of `unhealthyTaints` (effect NoSchedule or NoExecute) that the pod does not
//     tolerate by name. A toleration of everything was not written with a broken node in mind;
//     one that names the key was. Tolerations without a key count elsewhere as they always do;
//   * it is backed off, since its kubelet rejected pods with devices one after the other
//     (scheduler/engine/backoffs/black_holes.h; `rejectedPods` within `rejectedWithinSeconds`, for
//     `initialBackoffSeconds` … `maxBackoffSeconds`). A node is the same for all profiles:
//     these four are those of the first that has this plugin, and another that says something else
//     is refused.
// Its verdicts come after kube-scheduler's filters and never replace their words. What it answers
// follows from the Node object and from the back-off; it reads no clock.
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

// What holds where arguments say nothing.
[[nodiscard]] GpuHealthArgs default_gpu_health_args();
[[nodiscard]] GpuHealthArgs read_gpu_health_args(k8s::yaml::ObjectReader& args);

[[nodiscard]] sched::PluginInstance make_gpu_health(k8s::yaml::ObjectReader& args);

}  // namespace plugins
