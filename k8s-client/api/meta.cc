#include "k8s-client/api/meta.h"

#include <algorithm>

namespace k8s {
namespace {

bool key_less(const StringMap::Entry& entry, std::string_view key) { return entry.first < key; }

}  // namespace

StringMap::StringMap(std::initializer_list<Entry> entries)
    : StringMap(std::vector<Entry>(entries)) {}

StringMap::StringMap(std::vector<Entry> entries) : entries_(std::move(entries)) {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_key)) {
    std::stable_sort(entries_.begin(), entries_.end(), by_key);
  }
  // Among equal neighbours the last one is kept: unique, from behind.
  const auto same_key = [](const Entry& a, const Entry& b) { return a.first == b.first; };
  const auto kept = std::unique(entries_.rbegin(), entries_.rend(), same_key);
  entries_.erase(entries_.begin(), kept.base());
}

const std::string* StringMap::find(std::string_view key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, key_less);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

void StringMap::set(std::string_view key, std::string_view value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, key_less);
  if (at != entries_.end() && at->first == key) {
    at->second = value;
  } else {
    entries_.emplace(at, key, value);
  }
}

void StringMap::erase(std::string_view key) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, key_less);
  if (at != entries_.end() && at->first == key) entries_.erase(at);
}

const OwnerReference* controller_of(const ObjectMeta& object) {
  for (const OwnerReference& owner : object.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

}  // namespace k8s
