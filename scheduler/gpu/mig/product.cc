#include "scheduler/gpu/mig/product.h"

#include "scheduler/gpu/product.h"

namespace sched::gpu::mig {

const Geometry* geometry_of(std::string_view product) {
  return parse_product(product).product.geometry;
}

}  // namespace sched::gpu::mig
