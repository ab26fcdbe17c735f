// Rows of a table as Kubernetes objects for the engine.
//
// GPUs are named twice: as nvidia.com/gpu, which a live device plugin advertises, and in
// thousandths as gpu-scheduler.io/gpu-milli, for shares of a GPU. A pod with whole GPUs asks for
// both, a pod with a share only for thousandths, so that the sums over a node are correct in both.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

struct NodeRow {
  std::string name;
  k8s::Quantity cpu;
  k8s::Quantity memory;
  std::int64_t gpus = 0;
  std::string gpu_model;  // empty: not known
  std::vector<std::pair<std::string, std::string>> labels;
  k8s::ResourceList resources;  // further ones
};

struct PodRow {
  std::string namespace_;
  std::string name;
  k8s::Quantity cpu;
  k8s::Quantity memory;
  std::int64_t gpus = 0;                // devices
  std::int64_t milli = 0;               // of each, 1 … 1,000; of several: 1,000
  std::vector<std::string> gpu_models;  // allowed ones; empty: any
  std::int32_t priority = 0;
  k8s::ResourceList resources;  // further ones
};

// A ready node. It takes a million pods: traces in tables do not state how many a node may hold,
// and the usual 110 would be a limit that the trace never had.
[[nodiscard]] k8s::Node node_object(const NodeRow& row);

// A pod without a node, of one container with limits equal to its requests. Its uid is its
// namespace and name. Allowed models are a required node affinity.
[[nodiscard]] k8s::Pod pod_object(const PodRow& row);

}  // namespace bench::replay
