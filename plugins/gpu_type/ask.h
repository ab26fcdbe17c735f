// A pod's requirements for the type of a node's GPUs, and whether a node meets them.
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_shape.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace plugins {

class GpuTypeAsk {
 public:
  GpuTypeAsk(const sched::PodShape& shape, const sched::ResourceNames& names);

  [[nodiscard]] bool is_none() const;
  [[nodiscard]] const sched::gpu::Wishes& wishes() const { return wishes_; }

  // Whether it asks for MIG instances by name. Then memory is that of the instances.
  [[nodiscard]] bool asks_for_instances() const { return !instances_.empty(); }

  // The index of the first listed type that the node has; nullopt: none. 0 if no type is listed.
  [[nodiscard]] std::optional<std::size_t> type_of(const sched::gpu::Inventory& gpu) const;

  // The memory of the GPU or instance that the pod would get a piece of there, in bytes; 0: not
  // known.
  [[nodiscard]] std::int64_t memory_of(const sched::gpu::Inventory& gpu) const;

 private:
  sched::gpu::Wishes wishes_;
  std::vector<sched::ResourceId> instances_;  // the MIG resources that the pod asks for
};

}  // namespace plugins
