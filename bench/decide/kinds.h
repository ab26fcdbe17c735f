// The pods of `bench decide`: kinds, each a shape of its own to the engine.
//
// Ten patterns: one GPU of any model or of a given one, two, four and eight GPUs, a preference for
// a zone, no GPU. Further kinds repeat them with a little more CPU and memory each time, as the
// jobs of different teams differ.
#pragma once

#include "bench/decide/cluster.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/pod.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::decide {

inline constexpr std::string_view kSchedulerName = "gpu-scheduler";

struct Kind {
  k8s::Pod pod;  // without name and uid
  // The unit of its load: GPUs, or milli-CPU of the nodes without GPU.
  std::int64_t amount = 0;
  std::vector<Group> groups;  // where it may run and is counted
  std::uint64_t weight = 1;   // how often it comes
};

// The first `count` kinds: a longer list begins with the shorter ones.
[[nodiscard]] std::vector<Kind> kinds(std::size_t count);

// The `index`-th kind of a pod that no node can hold: it asks for sixteen GPUs.
[[nodiscard]] k8s::Pod unfit_pod(std::size_t index);

// The `index`-th kind of a pod of kQuotaNamespace, with one GPU.
inline constexpr const char* kQuotaNamespace = "limited";
[[nodiscard]] k8s::Pod over_quota_pod(std::size_t index);

// For one of several teams, each with its own namespace: the `index`-th kind of its pods, with one
// GPU.
[[nodiscard]] std::string team(std::size_t number);
[[nodiscard]] k8s::Pod team_pod(std::size_t team, std::size_t index);

// A pod of the namespace team-a, with one CPU and so many GPUs, that tolerates every taint; without
// name and uid.
[[nodiscard]] k8s::Pod gpu_pod(std::int64_t gpus);

// The quota of the namespace of that name, for GPUs of all types. All such quotas lend each other.
[[nodiscard]] k8s::GpuQuota quota_of(const std::string& namespace_, std::int64_t guaranteed);

// The pod of that number, with name and uid.
[[nodiscard]] k8s::Pod numbered(const k8s::Pod& pod, std::size_t number);
[[nodiscard]] std::string uid_of(std::size_t number);
// The number of the pod that has this uid.
[[nodiscard]] std::size_t number_of(const std::string& uid);

}  // namespace bench::decide
