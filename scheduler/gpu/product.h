// A GPU product: the GPUs that a name in a node's label stands for.
//
// GPU feature discovery writes the marketing name, with dashes for its blanks, into
// nvidia.com/gpu.product. It appends how the GPUs are used: "-SHARED" if they are shared without a
// resource name of their own, "-MIG-1g.10gb" if each is partitioned into instances of that profile,
// "-MIG-INVALID" if they should be partitioned and are not. These endings are not part of the
// product: two halves of one pool, one of them shared, hold the same GPUs. Clouds name the same
// GPUs in labels of their own (labels.h).
//
// A virtual machine has a part of a GPU. Its name ends in the part's memory ("NVIDIA-A40-8Q",
// "NVIDIA-H100XM-40C", NVIDIA's vGPU types): it is of the board's class, has that memory, and
// cannot be partitioned.
//
// An unknown name is kept as it is: such a GPU is a product of no class, and works as the plain
// extended resource that it is.
#pragma once

#include "scheduler/base/text_hash.h"
#include "scheduler/gpu/models.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

struct Product {
  std::string name;                     // canonical: "NVIDIA-A100-SXM4-80GB"; empty: no GPU named
  const GpuClass* gpu_class = nullptr;  // null: not a GPU that is known
  std::int64_t memory_gb = 0;           // of a whole GPU, as marketed; 0: not known
  bool is_part = false;                 // a vGPU type: memory_gb is the memory of the part
  Form form = Form::kUnknown;
  const mig::Geometry* geometry = nullptr;  // null: no MIG, or not known
  std::string key;  // the words of `name`, each between dashes: "-NVIDIA-A100-SXM4-80GB-"
  std::uint64_t hash = kEmptyTextHash;  // text_hash(name)

  // "A100"; empty if the class is not known.
  [[nodiscard]] std::string_view class_name() const {
    return gpu_class == nullptr ? std::string_view() : gpu_class->name;
  }
  friend bool operator==(const Product&, const Product&) = default;
};

// The parts of a label's value.
struct ProductLabel {
  Product product;
  bool shared = false;      // "-SHARED"
  std::string mig_profile;  // of "-MIG-<profile>": "1g.10gb", or "INVALID"; empty: none
  friend bool operator==(const ProductLabel&, const ProductLabel&) = default;
};

// `memory_mib`: what a whole GPU reports, 0 if that is not known. It decides between the variants
// of one class if the name does not.
[[nodiscard]] ProductLabel parse_product(std::string_view label, std::int64_t memory_mib = 0);

// The MIG geometry of the GPUs that a label names; nullptr: a GPU without MIG, or one of unknown
// geometry.
[[nodiscard]] inline const mig::Geometry* geometry_of(std::string_view label) {
  return parse_product(label).product.geometry;
}

// The form that the words of a name give.
[[nodiscard]] Form form_of(const std::vector<std::string>& words);

}  // namespace sched::gpu
