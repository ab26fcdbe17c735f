#include "bench/replay/report/page/words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bench::replay::page {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kPolicyWords{{
    {"default", "default policy"},
    {"usable_gpu", "usable GPU"},
    {"usable_gpu_both", "usable GPU for both cases"},
    {"usable_gpu_p1", "usable GPU for small pods, first"},
    {"usable_gpu_p2", "usable GPU for small pods, second"},
    {"most_allocated", "most allocated"},
    {"kube-scheduler", "kube-scheduler"},
    {"fgd", "fragmentation gradient descent"},
    {"best_fit", "best fit"},
    {"dot_prod", "dot product"},
    {"gpu_clustering", "GPU clustering"},
    {"gpu_packing", "GPU packing"},
    {"mig", "MIG placement"},
    {"recorded", "as recorded"},
}};

}  // namespace

std::string policy_words(std::string_view name) {
  for (const auto& [policy, words] : kPolicyWords) {
    if (policy == name) return std::string(words);
  }
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string arrival_words(std::string_view arrival) {
  if (arrival == "trace") return "each pod at its own time";
  if (arrival == "backlog") return "all pods at once, none leaves";
  if (arrival == "recording") return "as recorded";
  const auto percent_after = [&](std::string_view mode) {
    return std::string(arrival.substr(mode.size())) + " % of the GPUs";
  };
  constexpr std::string_view kInflate = "inflate:";
  constexpr std::string_view kStationary = "stationary:";
  if (arrival.starts_with(kInflate)) {
    return "pods drawn until they ask for " + percent_after(kInflate) + ", none leaves";
  }
  if (arrival.starts_with(kStationary)) {
    return "a stream of pods that asks for " + percent_after(kStationary);
  }
  return std::string(arrival);
}

std::string model_words(std::string_view product) {
  std::string words(product);
  if (product.starts_with("NVIDIA-") || product.starts_with("Tesla-")) {
    std::replace(words.begin(), words.end(), '-', ' ');
  }
  return words;
}

}  // namespace bench::replay::page
