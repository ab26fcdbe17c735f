// What a node offers of GPUs, read off its labels.
#pragma once

#include "k8s-client/api/meta.h"
#include "scheduler/gpu/product.h"

namespace sched::gpu {

struct Inventory {
  Product product;

  friend bool operator==(const Inventory&, const Inventory&) = default;
};

[[nodiscard]] Inventory inventory_of(const k8s::StringMap& labels);

}  // namespace sched::gpu
