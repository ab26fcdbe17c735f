#include "scheduler/base/resources.h"

#include "scheduler/base/qualified_name.h"

#include <algorithm>

namespace sched {

ResourceNames::ResourceNames() {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu",
                           "resources beyond those that are counted"}) {
    intern(name);
  }
}

ResourceId ResourceNames::intern(std::string_view name) {
  if (names_.size() == kMostNames) return find(name).value_or(kUncounted);
  const auto next = static_cast<ResourceId>(names_.size());
  const auto [entry, is_new] = ids_.emplace(std::string(name), next);
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

std::optional<ResourceId> ResourceNames::find(std::string_view name) const {
  const auto found = ids_.find(std::string(name));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool is_extended_resource(std::string_view name) {
  const bool is_native = name.find('/') == std::string_view::npos ||
                         name.find("kubernetes.io/") != std::string_view::npos;
  if (is_native || name.starts_with("requests.")) return false;
  // Upstream checks the name as quota would write it.
  return is_qualified_name("requests." + std::string(name));
}

bool is_scalar_resource(std::string_view name) {
  return is_extended_resource(name) || name.starts_with("hugepages-") ||
         name.find("kubernetes.io/") != std::string_view::npos ||
         name.starts_with("attachable-volumes-");
}

void Resources::set(ResourceId id, std::int64_t amount) {
  const auto i = static_cast<std::size_t>(id);
  if (i >= amounts_.size()) {
    if (amount == 0) return;
    amounts_.resize(i + 1);
  }
  amounts_[i] = amount;
}

void Resources::add(ResourceId id, std::int64_t amount) {
  set(id, saturating_add(get(id), amount));
}

void Resources::add(const Resources& other) {
  for (std::size_t i = 0; i < other.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    add(id, other.get(id));
  }
}

void Resources::subtract(const Resources& other) {
  for (std::size_t i = 0; i < other.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    set(id, saturating_subtract(get(id), other.get(id)));
  }
}

void Resources::raise_to(const Resources& other) {
  for (std::size_t i = 0; i < other.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    set(id, std::max(get(id), other.get(id)));
  }
}

bool operator==(const Resources& a, const Resources& b) {
  const std::size_t size = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<ResourceId>(i);
    if (a.get(id) != b.get(id)) return false;
  }
  return true;
}

Resources to_resources(const k8s::ResourceList& list, ResourceNames& names) {
  Resources resources;
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      resources.set(kCpu, quantity.milli_value());
    } else if (name == "memory" || name == "ephemeral-storage" || name == "pods" ||
               is_scalar_resource(name)) {
      const ResourceId id = names.intern(name);
      const std::int64_t others = id == kUncounted ? resources.get(id) : 0;
      resources.set(id, saturating_add(others, quantity.value()));
    }
  }
  return resources;
}

}  // namespace sched
