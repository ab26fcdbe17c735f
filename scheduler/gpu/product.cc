#include "scheduler/gpu/product.h"

#include <algorithm>
#include <cctype>

namespace sched::gpu {

namespace {

constexpr std::string_view kShared = "-SHARED";
constexpr std::string_view kMig = "-MIG-";

// As GPU feature discovery makes a label of a name: blanks become dashes; characters that are not
// allowed in a label are dropped.
std::string canonical(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ') {
      text += '-';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
               c == '.') {
      text += c;
    }
  }
  return text;
}

std::string key_of(const std::vector<std::string>& words) {
  std::string key = "-";
  for (const std::string& word : words) key += word + "-";
  return key;
}

Product product_named(std::string name, std::int64_t memory_mib) {
  const std::vector<std::string> words = words_of(name);
  Product product;
  product.key = key_of(words);
  product.name = std::move(name);
  product.hash = text_hash(product.name);
  product.form = form_of(words);
  if (const auto part = vgpu_type_of(words)) {
    product.gpu_class = part->gpu_class;
    product.is_part = true;
    product.memory_gb = part->memory_gb;
    if (product.form == Form::kUnknown) product.form = part->form;
    return product;
  }
  product.gpu_class = class_of(words);
  if (product.gpu_class == nullptr) return product;
  if (product.form == Form::kUnknown) product.form = product.gpu_class->form;
  const GpuVariant variant = variant_of(*product.gpu_class, words, memory_mib);
  product.memory_gb = variant.memory_gb;
  product.geometry = variant.geometry;
  return product;
}

}  // namespace

ProductLabel parse_product(std::string_view label, std::int64_t memory_mib) {
  ProductLabel parsed;
  std::string name = canonical(label);
  if (name.ends_with(kShared)) {
    parsed.shared = true;
    name.resize(name.size() - kShared.size());
  }
  if (const std::size_t at = name.find(kMig); at != std::string::npos) {
    parsed.mig_profile = name.substr(at + kMig.size());
    name.resize(at);
  }
  parsed.product = product_named(std::move(name), memory_mib);
  return parsed;
}

Form form_of(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "PCIE") return Form::kPcie;
    if (word == "NVL") return Form::kNvl;
    // Boards with HBM3 in their name, and those that clouds name by their links, are SXM.
    if (word.starts_with("SXM") || word == "HBM3" || word == "NVLINK") return Form::kSxm;
  }
  return Form::kUnknown;
}

}  // namespace sched::gpu
