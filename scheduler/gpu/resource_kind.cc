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

// `name` without its domain.
bool is_own_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kGpuWords = {"GPU", "PGPU", "VGPU", "GRID"};
  constexpr std::array<std::string_view, 6> kAmounts = {"MEM",   "MEMORY",     "CORE",
                                                        "CORES", "PERCENTAGE", "PRIORITY"};
  std::string text(name);
  std::replace(text.begin(), text.end(), '.', '-');
  const std::vector<std::string> words = words_of(text);
  if (says_any(words, kAmounts)) return false;
  return says_any(words, kGpuWords) || class_of(words) != nullptr;
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

}  // namespace sched::gpu
