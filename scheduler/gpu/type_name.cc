#include "scheduler/gpu/type_name.h"

#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"

#include <algorithm>

namespace sched::gpu {

namespace {

// "80GB" → 80; 0: not an amount of memory.
std::int64_t gigabytes(std::string_view word) {
  if (!word.ends_with("GB")) return 0;
  word.remove_suffix(2);
  return std::max<std::int64_t>(k8s::parse_number<std::int64_t>(word).value_or(0), 0);
}

constexpr std::string_view kVendor = "NVIDIA";
constexpr std::string_view kTesla = "TESLA";  // a brand name, but part of GKE's names

bool names_class(const GpuClass& gpu_class, std::string_view word) {
  return std::find(gpu_class.words.begin(), gpu_class.words.end(), word) != gpu_class.words.end();
}

// Stores what a word adds to the class.
void add_word(TypeName& type, const std::string& word) {
  if (word == kVendor || word == kTesla || names_class(*type.gpu_class, word)) return;
  const Form form = form_of({word});
  if (const std::int64_t memory = gigabytes(word); memory > 0) {
    const std::int64_t meant = variant_by_word(*type.gpu_class, word).memory_gb;
    type.memory_gb = meant > 0 ? meant : memory;
  } else if (form != Form::kUnknown) {
    type.form = form;
  } else {
    type.words.push_back("-" + word + "-");
  }
}

}  // namespace

TypeName parse_type_name(std::string_view text) {
  TypeName type;
  type.text = k8s::trimmed(text);
  const ProductLabel label = parse_product(type.text);
  type.key = label.product.key;
  type.gpu_class = label.product.gpu_class;
  type.mig_profile = label.mig_profile;
  if (type.gpu_class == nullptr) return type;
  const std::vector<std::string> words = words_of(label.product.name);
  for (const std::string& word : words) add_word(type, word);
  const auto says = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (says(kTesla) && says(kVendor) && type.memory_gb == 0) {
    type.memory_gb = variant_by_word(*type.gpu_class, kTesla).memory_gb;
  }
  return type;
}

bool names_something(const TypeName& type) { return type.key.size() > 1; }

bool matches(const TypeName& type, const Product& product) {
  if (type.gpu_class != product.gpu_class) return false;
  if (type.gpu_class == nullptr) return !product.name.empty() && type.key == product.key;
  if (type.memory_gb != 0 && type.memory_gb != product.memory_gb) return false;
  if (type.form != Form::kUnknown && type.form != product.form) return false;
  return std::all_of(type.words.begin(), type.words.end(), [&](const std::string& word) {
    return product.key.find(word) != std::string::npos;
  });
}

}  // namespace sched::gpu
