// What all Kubernetes objects have in common, with only the fields in use.
//
// `metadata.managedFields`, often the largest part of an object, is never stored.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

// A small string map, sorted by key, each key once: labels, annotations, nodeSelector.
class StringMap {
 public:
  using Entry = std::pair<std::string, std::string>;

  StringMap() = default;
  StringMap(std::initializer_list<Entry> entries);
  // If several entries have one key, the last one is kept, as JSON decoders do.
  explicit StringMap(std::vector<Entry> entries);

  // The value of `key`, or nullptr. O(log n).
  [[nodiscard]] const std::string* find(std::string_view key) const;
  void set(std::string_view key, std::string_view value);
  void erase(std::string_view key);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  friend bool operator==(const StringMap&, const StringMap&) = default;

 private:
  std::vector<Entry> entries_;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string namespace_;  // empty for cluster-scoped objects
  std::string uid;
  std::string resource_version;  // opaque: compared for equality only
  std::int64_t generation = 0;
  StringMap labels;
  StringMap annotations;
  std::optional<Timestamp> creation_timestamp;
  std::optional<Timestamp> deletion_timestamp;
  std::vector<OwnerReference> owner_references;

  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

// The owner that manages the object, of which the API server allows one; null: none.
[[nodiscard]] const OwnerReference* controller_of(const ObjectMeta& object);

}  // namespace k8s
