#include "scheduler/gpu/inventory.h"

#include "scheduler/gpu/labels.h"

namespace sched::gpu {

Inventory inventory_of(const k8s::StringMap& labels) {
  Inventory inventory;
  const k8s::StringMap::Entry* label = product_label_of(labels);
  if (label != nullptr) inventory.product = parse_product(label->second).product;
  return inventory;
}

}  // namespace sched::gpu
