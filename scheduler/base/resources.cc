#include "scheduler/base/resources.h"

#include "scheduler/base/qualified_name.h"

#include <algorithm>
#include <utility>

namespace sched {

namespace {

constexpr auto kById = [](const ResourceAmount& a, const ResourceAmount& b) {
  return a.resource < b.resource;
};

}  // namespace

ResourceNames::ResourceNames() {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu"}) {
    intern(name);
  }
  news_ = 0;
}

ResourceNames::ResourceNames(const ResourceNames& other)
    : ids_(other.ids_), names_(other.names_.size()), unused_(other.unused_), news_(other.news_) {
  for (const auto& [name, id] : ids_) names_[static_cast<std::size_t>(id)] = &name;
}

ResourceId ResourceNames::intern(std::string_view name) {
  if (const auto known = find(name)) return *known;
  if (unused_.empty()) {
    unused_.push_back(static_cast<ResourceId>(names_.size()));
    names_.push_back(nullptr);
  }
  const ResourceId id = unused_.back();
  unused_.pop_back();
  names_[static_cast<std::size_t>(id)] = &ids_.emplace(name, id).first->first;
  ++news_;
  return id;
}

std::optional<ResourceId> ResourceNames::find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

void ResourceNames::keep_only(const std::vector<bool>& in_use) {
  constexpr auto kAlwaysThere = static_cast<std::size_t>(kNvidiaGpu) + 1;
  unused_.clear();
  for (std::size_t i = names_.size(); i-- > kAlwaysThere;) {
    if (in_use[i]) continue;
    if (names_[i] != nullptr) ids_.erase(ids_.find(*names_[i]));
    names_[i] = nullptr;
    unused_.push_back(static_cast<ResourceId>(i));
  }
  news_ = 0;
}

bool is_extended_resource(std::string_view name) {
  const bool is_native = name.find('/') == std::string_view::npos ||
                         name.find("kubernetes.io/") != std::string_view::npos;
  if (is_native || name.starts_with("requests.")) return false;
  // Upstream checks the name with quota's prefix.
  return is_qualified_name("requests." + std::string(name));
}

bool is_scalar_resource(std::string_view name) {
  return is_extended_resource(name) || name.starts_with("hugepages-") ||
         name.find("kubernetes.io/") != std::string_view::npos ||
         name.starts_with("attachable-volumes-");
}

Resources::Resources(std::vector<ResourceAmount> list) {
  for (const auto& [id, amount] : list) {
    const auto i = static_cast<std::size_t>(id);
    if (i < kInPlace) first_[i] = amount;
  }
  std::erase_if(list, [](const ResourceAmount& each) {
    return static_cast<std::size_t>(each.resource) < kInPlace || each.amount == 0;
  });
  if (list.empty()) return;
  std::sort(list.begin(), list.end(), kById);
  others_ = std::move(list);
}

std::int64_t Resources::of_others(ResourceId id) const {
  const auto at = std::lower_bound(others_.begin(), others_.end(), ResourceAmount{id}, kById);
  return at != others_.end() && at->resource == id ? at->amount : 0;
}

void Resources::set(ResourceId id, std::int64_t amount) {
  const auto i = static_cast<std::size_t>(id);
  if (i < kInPlace) {
    first_[i] = amount;
    return;
  }
  const auto at = std::lower_bound(others_.begin(), others_.end(), ResourceAmount{id}, kById);
  const bool known = at != others_.end() && at->resource == id;
  if (known && amount != 0) {
    at->amount = amount;
  } else if (known) {
    others_.erase(at);
  } else if (amount != 0) {
    others_.insert(at, {id, amount});
  }
}

void Resources::add(const Resources& other) {
  other.for_each([this](ResourceId id, std::int64_t amount) { add(id, amount); });
}

void Resources::add(const std::vector<ResourceAmount>& list, std::int64_t sign) {
  const auto known = static_cast<std::ptrdiff_t>(others_.size());
  for (const auto& [id, amount] : list) {
    const auto i = static_cast<std::size_t>(id);
    if (i < kInPlace) {
      first_[i] = saturating_add(first_[i], sign * amount);
      continue;
    }
    const auto end = others_.begin() + known;
    const auto at = std::lower_bound(others_.begin(), end, ResourceAmount{id}, kById);
    if (at != end && at->resource == id) {
      at->amount = saturating_add(at->amount, sign * amount);
    } else {
      others_.push_back({id, sign * amount});
    }
  }
  if (others_.empty()) return;
  std::inplace_merge(others_.begin(), others_.begin() + known, others_.end(), kById);
  std::erase_if(others_, [](const ResourceAmount& each) { return each.amount == 0; });
}

Resources to_resources(const k8s::ResourceList& list, ResourceNames& names) {
  std::vector<ResourceAmount> amounts;
  amounts.reserve(list.size());
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      amounts.push_back({kCpu, quantity.milli_value()});
    } else if (name == "memory" || name == "ephemeral-storage" || name == "pods" ||
               is_scalar_resource(name)) {
      amounts.push_back({names.intern(name), quantity.value()});
    }
  }
  return Resources(std::move(amounts));
}

}  // namespace sched
