// A GPU type as users write it, in a pod's annotation or in a quota: a class ("H100"), a class with
// a word for a variant ("A100-80GB", "H100-PCIe", "H100-NVL"), a product ("NVIDIA-H100-80GB-HBM3"),
// or the value of a node's label ("…-MIG-1g.10gb").
//
// A type means every product of its class that matches each of its other words, by name, memory or
// form; "A100" means all of them. A name of an unknown class means the products of exactly that
// name. Upper and lower case are the same.
#pragma once

#include "scheduler/gpu/product.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

struct TypeName {
  std::string text;                     // as it was written, without blanks around it
  const GpuClass* gpu_class = nullptr;  // null: products of exactly this name
  std::string key;                      // as Product::key
  std::int64_t memory_gb = 0;           // 0: any
  Form form = Form::kUnknown;           // kUnknown: any
  std::vector<std::string> words;       // what a product's name must contain, too; each "-WORD-"
  std::string mig_profile;              // of a label's value with "-MIG-…"; empty: none

  friend bool operator==(const TypeName&, const TypeName&) = default;
};

[[nodiscard]] TypeName parse_type_name(std::string_view text);

// False for a text of only blanks and dashes.
[[nodiscard]] bool names_something(const TypeName& type);

// O(words); most names have none.
[[nodiscard]] bool matches(const TypeName& type, const Product& product);

}  // namespace sched::gpu
