// A GPU type as a person writes it, in a pod's annotation or in a quota: a class ("H100"), a class
// with what tells its variants apart ("A100-80GB", "H100-PCIe", "H100-NVL"), a product
// ("NVIDIA-H100-80GB-HBM3"), or a label's value as it stands on a node ("…-MIG-1g.10gb").
//
// A type means every product of its class that says each of its other words, or whose memory or
// form is what the word names; "A100" means all of them. A name whose class is not known means the
// products of just that name. Upper and lower case are the same.
#pragma once

#include "scheduler/gpu/product.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

struct TypeName {
  std::string text;                     // as it was written, without blanks around it
  const GpuClass* gpu_class = nullptr;  // null: products of just this name
  std::string key;                      // as Product::key
  std::int64_t memory_gb = 0;           // 0: any
  Form form = Form::kUnknown;           // kUnknown: any
  std::vector<std::string> words;       // what a product must say besides; each "-WORD-"
  std::string mig_profile;              // of a label's value with "-MIG-…"; empty: none

  friend bool operator==(const TypeName&, const TypeName&) = default;
};

[[nodiscard]] TypeName parse_type_name(std::string_view text);

// False for a text of nothing but blanks and dashes.
[[nodiscard]] bool names_something(const TypeName& type);

// O(words), most names have none.
[[nodiscard]] bool matches(const TypeName& type, const Product& product);

}  // namespace sched::gpu
