#include "plugins/gpu_health/args.h"

#include "plugins/support/args.h"

#include <algorithm>
#include <chrono>

namespace plugins {

namespace {

using k8s::yaml::ObjectReader;

constexpr std::int64_t kMostSeconds = 24 * 60 * 60;

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// A given list replaces the default, even if it is empty. A key with nothing behind it gives none,
// as when all lines of a list are comments.
void read_names(ObjectReader& args, std::string_view key, std::vector<std::string>& names) {
  const k8s::yaml::Value* given = args.raw(key);
  if (given == nullptr || given->is_null()) return;
  names = sorted(args.strings(key));
  if (std::find(names.begin(), names.end(), "") != names.end()) {
    args.complain(key, "has an empty entry");
  }
}

void read_seconds(ObjectReader& args, std::string_view key, std::chrono::seconds& seconds) {
  const auto read = args.integer(key, {.min = 1, .max = kMostSeconds});
  if (read) seconds = std::chrono::seconds(*read);
}

// Sources: kubernetes/node-problem-detector, config/; AKS, "Node problem detector in AKS nodes"
// (those of GPU nodes except for throttling, which slows down but does not break); EKS, "Detect
// node health issues"; Kubernetes, well-known labels and taints; cluster-autoscaler; Karpenter.
GpuHealthArgs default_args() {
  return {
      .unhealthy_conditions = sorted({"KernelDeadlock",
                                      "ReadonlyFilesystem",
                                      "CorruptDockerOverlay2",
                                      "FrequentKubeletRestart",
                                      "FrequentDockerRestart",
                                      "FrequentContainerdRestart",
                                      "FrequentUnregisterNetDevice",
                                      "KubeletProblem",
                                      "ContainerRuntimeProblem",
                                      "FilesystemCorruptionProblem",
                                      "GPUMissing",
                                      "NVLinkStatusInactive",
                                      "XIDErrors",
                                      "IBLinkFlapping",
                                      "UnhealthyNvidiaDevicePlugin",
                                      "AcceleratedHardwareReady",
                                      "ContainerRuntimeReady",
                                      "KernelReady",
                                      "NetworkingReady",
                                      "StorageReady"}),
      .unhealthy_taints = sorted({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
                                  "node.kubernetes.io/out-of-service",
                                  "node.cloudprovider.kubernetes.io/uninitialized",
                                  "node.cloudprovider.kubernetes.io/shutdown",
                                  "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"}),
      .rejections = {}};
}

}  // namespace

GpuHealthArgs read_gpu_health_args(ObjectReader& args) {
  GpuHealthArgs read = default_args();
  read_type(args, "GpuHealthArgs");
  read_names(args, "unhealthyConditions", read.unhealthy_conditions);
  read_names(args, "unhealthyTaints", read.unhealthy_taints);
  sched::gpu::RejectionLimits& limits = read.rejections;
  if (const auto pods = args.integer("rejectedPods", {.min = 1, .max = 100})) {
    limits.pods = static_cast<int>(*pods);
  }
  read_seconds(args, "rejectedWithinSeconds", limits.within);
  read_seconds(args, "initialBackoffSeconds", limits.initial_backoff);
  read_seconds(args, "maxBackoffSeconds", limits.max_backoff);
  if (limits.max_backoff < limits.initial_backoff) {
    args.complain("maxBackoffSeconds", "is less than initialBackoffSeconds");
  }
  return read;
}

}  // namespace plugins
