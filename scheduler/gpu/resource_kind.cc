#include "scheduler/gpu/resource_kind.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/models.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace sched::gpu {
namespace {

template <std::size_t kSize>
bool says_any(const std::vector<std::string>& words,
              const std::array<std::string_view, kSize>& of_these) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(of_these.begin(), of_these.end(), word) != of_these.end();
  });
}

constexpr std::array<std::string_view, 4> kGpuWords = {"GPU", "PGPU", "VGPU", "GRID"};

// The words between dots, slashes, dashes and underscores, upper case.
std::vector<std::string> words_of_resource(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '.', '-');
  std::replace(text.begin(), text.end(), '/', '-');
  return words_of(text);
}

// `name` without its domain.
bool is_own_name(std::string_view name) {
  constexpr std::array<std::string_view, 12> kOthers = {
      "MEM",  "MEMORY", "CORE",    "CORES", "PERCENTAGE", "PRIORITY",  // amounts
      "RDMA", "ROCE",   "HOSTDEV", "NIC",   "HCA",        "SRIOV"};    // network devices
  const std::vector<std::string> words = words_of_resource(name);
  if (says_any(words, kOthers)) return false;
  return says_any(words, kGpuWords) || class_of(words) != nullptr ||
         vgpu_type_of(words).has_value();
}

}  // namespace

ResourceKind kind_of_resource(std::string_view name) {
  if (!name.starts_with(kNvidiaPrefix)) return ResourceKind::kNoGpu;
  if (name == kGpuResource) return ResourceKind::kGpu;
  if (name == kSharedResource) return ResourceKind::kShared;
  if (name.starts_with(kMigResourcePrefix)) return ResourceKind::kInstance;
  return is_own_name(name.substr(kNvidiaPrefix.size())) ? ResourceKind::kOwnName
                                                        : ResourceKind::kNoGpu;
}

bool is_accelerator(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOthers = {
      "amd.com/", "habana.ai/", "google.com/tpu", "aws.amazon.com/neuron", "huawei.com/Ascend"};
  if (name.starts_with(kNvidiaPrefix)) return is_gpu_resource(name);
  const auto begins = [&](std::string_view other) { return name.starts_with(other); };
  return std::any_of(kOthers.begin(), kOthers.end(), begins) ||
         says_any(words_of_resource(name), kGpuWords);
}

}  // namespace sched::gpu
