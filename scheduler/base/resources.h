// Amounts of resources: names interned to small ids, amounts as 64-bit integers by id.
//
// The unit of an amount is that of its resource: milli-CPU for cpu, bytes for memory, storage and
// hugepages, pieces for everything else. A resource that is absent is zero (a node without
// nvidia.com/gpu has none), so no name is ever "unknown".
#pragma once

#include "k8s-client/api/node.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// Index of a resource name in ResourceNames.
enum class ResourceId : std::uint32_t {};

inline constexpr ResourceId kCpu{0};               // milli-CPU
inline constexpr ResourceId kMemory{1};            // bytes
inline constexpr ResourceId kEphemeralStorage{2};  // bytes
inline constexpr ResourceId kPods{3};              // pieces
inline constexpr ResourceId kNvidiaGpu{4};         // pieces of nvidia.com/gpu

// The names of one engine. The names above always exist.
//
// A cluster has some dozens of names, but a user who may create pods can make up more. So names
// that are no longer in use are forgotten, and their ids are given to others. The caller of
// keep_only() determines which ids are in use from one event to the next.
class ResourceNames {
 public:
  ResourceNames();
  ResourceNames(const ResourceNames& other);
  ResourceNames& operator=(const ResourceNames&) = delete;
  ~ResourceNames() = default;

  // The id of `name`; a new one if it has none. O(log names).
  ResourceId intern(std::string_view name);
  // The id of `name`, if it is known. O(log names).
  [[nodiscard]] std::optional<ResourceId> find(std::string_view name) const;
  // The name of an id that is in use.
  [[nodiscard]] const std::string& name(ResourceId id) const {
    return *names_[static_cast<std::size_t>(id)];
  }
  // How many names are known.
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  // One past the largest id.
  [[nodiscard]] std::size_t end_of_ids() const { return names_.size(); }
  // How many names were added since keep_only().
  [[nodiscard]] std::size_t news() const { return news_; }

  // Forgets all names except those that always exist and those with ids that are, as indices,
  // `in_use`. O(ids).
  void keep_only(const std::vector<bool>& in_use);

 private:
  // A tree, not a hash table: names can be made up so that their hashes collide.
  std::map<std::string, ResourceId, std::less<>> ids_;
  std::vector<const std::string*> names_;  // by id, in ids_; null: the id is unused
  std::vector<ResourceId> unused_;         // descending
  std::size_t news_ = 0;
};

// True for extended resources: a qualified name with a domain outside *kubernetes.io that does not
// begin with "requests.". Source: kubernetes pkg/apis/core/v1/helper, IsExtendedResourceName.
[[nodiscard]] bool is_extended_resource(std::string_view name);

// True for what is counted besides cpu, memory and ephemeral-storage: extended resources,
// hugepages-*, names of *kubernetes.io/ and attachable-volumes-*. A scheduler ignores other names;
// they are left out of all amounts. Source: kube-scheduler util/utils.go, IsScalarResourceName.
[[nodiscard]] bool is_scalar_resource(std::string_view name);

// a + b and a - b; they saturate at the limits of int64.
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? Limits::max() : Limits::min();
}
[[nodiscard]] constexpr std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? Limits::min() : Limits::max();
}
// a · b of amounts ≥ 0; it saturates at the limit of int64.
[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

// One amount of a list.
struct ResourceAmount {
  ResourceId resource{};
  std::int64_t amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Amounts by id. The first few are in the object itself, because every shape reads what a node has
// and what is taken there; this saves a memory access each. The others are a list, because ids may
// be large if names are made up. Plain value type.
class Resources {
 public:
  Resources() = default;
  // From a list in any order, each id once. O(n log n).
  explicit Resources(std::vector<ResourceAmount> list);

  // O(1) for the first few ids, else O(log amounts).
  [[nodiscard]] std::int64_t get(ResourceId id) const {
    const auto i = static_cast<std::size_t>(id);
    return i < kInPlace ? first_[i] : of_others(id);
  }
  // O(1) for the first few ids, else O(amounts).
  void set(ResourceId id, std::int64_t amount);
  // These add; they saturate at the limits of int64.
  void add(ResourceId id, std::int64_t amount) { set(id, saturating_add(get(id), amount)); }
  void add(const Resources& other);
  // The list is by ascending id, each once, with amounts above zero. O(amounts of both, log).
  void add(const std::vector<ResourceAmount>& list) { add(list, +1); }
  void subtract(const std::vector<ResourceAmount>& list) { add(list, -1); }

  // Calls visit(id, amount) for the amounts that are not zero, by ascending id.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < kInPlace; ++i) {
      if (first_[i] != 0) visit(static_cast<ResourceId>(i), first_[i]);
    }
    for (const auto& [id, amount] : others_) visit(id, amount);
  }

  friend bool operator==(const Resources&, const Resources&) = default;

 private:
  // cpu, memory, ephemeral-storage, pods, nvidia.com/gpu, two sizes of huge pages, and one spare
  // place.
  static constexpr std::size_t kInPlace = 8;

  [[nodiscard]] std::int64_t of_others(ResourceId id) const;
  void add(const std::vector<ResourceAmount>& list, std::int64_t sign);

  std::array<std::int64_t, kInPlace> first_{};
  std::vector<ResourceAmount> others_;  // not zero, by ascending id
};

// `list` in the units above: cpu in thousandths, all else in whole units, rounded up. Names that a
// scheduler ignores are left out. O(n log n).
[[nodiscard]] Resources to_resources(const k8s::ResourceList& list, ResourceNames& names);

}  // namespace sched
