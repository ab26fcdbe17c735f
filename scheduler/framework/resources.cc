#include "scheduler/framework/resources.h"

#include <algorithm>
#include <cctype>

namespace sched {

namespace {

bool is_lower_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_alphanumeric(c) || (c >= 'A' && c <= 'Z'); }

// RFC 1123 subdomain: labels of [a-z0-9-] that neither begin nor end with '-', joined by dots.
bool is_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  char previous = '.';
  for (const char c : text) {
    if (c == '.' ? !is_lower_alphanumeric(previous)
                 : !is_lower_alphanumeric(c) && (c != '-' || previous == '.')) {
      return false;
    }
    previous = c;
  }
  return is_lower_alphanumeric(previous);
}

// The name part of a qualified name: at most 63 of [A-Za-z0-9-_.], alphanumeric at both ends.
bool is_name_part(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  const auto allowed = [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  return is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

ResourceNames::ResourceNames() {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu"}) {
    intern(name);
  }
}

ResourceId ResourceNames::intern(std::string_view name) {
  const auto next = static_cast<ResourceId>(names_.size());
  const auto [entry, is_new] = ids_.emplace(std::string(name), next);
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

bool is_extended_resource(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kRequests = "requests.";
  if (name.starts_with(kRequests)) return false;
  // Upstream checks the name as quota would write it, "requests." in front of it.
  const std::string domain = std::string(kRequests) + std::string(name.substr(0, slash));
  return is_subdomain(domain) && is_name_part(name.substr(slash + 1));
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
      resources.set(names.intern(name), quantity.value());
    }
  }
  return resources;
}

}  // namespace sched
