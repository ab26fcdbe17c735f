// Amounts of resources: names interned to small ids, amounts as 64-bit integers in flat arrays.
//
// The unit of an amount is that of its resource: milli-CPU for cpu, bytes for memory, storage and
// hugepages, pieces for everything else. A resource that is absent is zero (a node without
// nvidia.com/gpu has none), so reading beyond an array's end gives 0 and no name is ever "unknown".
#pragma once

#include "k8s-client/api/node.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

// Index of a resource name in ResourceNames.
enum class ResourceId : std::uint32_t {};

inline constexpr ResourceId kCpu{0};               // milli-CPU
inline constexpr ResourceId kMemory{1};            // bytes
inline constexpr ResourceId kEphemeralStorage{2};  // bytes
inline constexpr ResourceId kPods{3};              // pieces
inline constexpr ResourceId kNvidiaGpu{4};         // pieces of nvidia.com/gpu
// Any name beyond the first kMostNames. No node has any of it, so who asks for it waits.
inline constexpr ResourceId kUncounted{5};

// The names of one engine. Ids are dense and never reused; those above are always there.
//
// A cluster has some dozens of names, but whoever may create pods may make up more, and amounts are
// arrays by id. So there is an end to them.
class ResourceNames {
 public:
  static constexpr std::size_t kMostNames = 4'096;

  ResourceNames();

  // The id of `name`, new if need be; names are never dropped. kUncounted when there are
  // kMostNames.
  ResourceId intern(std::string_view name);
  // The id of `name`, if anybody has named it yet.
  [[nodiscard]] std::optional<ResourceId> find(std::string_view name) const;
  [[nodiscard]] const std::string& name(ResourceId id) const {
    return names_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, ResourceId> ids_;
};

// True for extended resources: a qualified name with a domain outside *kubernetes.io that does not
// begin with "requests.". Source: kubernetes pkg/apis/core/v1/helper, IsExtendedResourceName.
[[nodiscard]] bool is_extended_resource(std::string_view name);

// True for what is counted besides cpu, memory and ephemeral-storage: extended resources,
// hugepages-*, names of *kubernetes.io/ and attachable-volumes-*. Other names mean nothing to a
// scheduler and are left out of all amounts. Source: kube-scheduler util/utils.go,
// IsScalarResourceName.
[[nodiscard]] bool is_scalar_resource(std::string_view name);

// a + b and a - b, holding at the limits of int64 instead of overflowing.
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

// Amounts by id, dense, the first few in the object itself: what a node has and what is taken there
// are asked for by every shape, and one look at memory less each. Plain value type.
class Resources {
 public:
  [[nodiscard]] std::int64_t get(ResourceId id) const {
    const auto i = static_cast<std::size_t>(id);
    return i < amounts_.size() ? amounts_[i] : 0;
  }
  void set(ResourceId id, std::int64_t amount);
  // Adds, holding at the limits of int64 instead of overflowing.
  void add(ResourceId id, std::int64_t amount);
  void add(const Resources& other);
  void subtract(const Resources& other);
  // Raises each amount to at least that of `other`.
  void raise_to(const Resources& other);

  // One past the largest id that may be non-zero.
  [[nodiscard]] std::size_t size() const { return amounts_.size(); }

  // Trailing zeroes do not count.
  friend bool operator==(const Resources& a, const Resources& b);

 private:
  // cpu, memory, ephemeral-storage, pods, nvidia.com/gpu, and two sizes of huge pages with a name
  // to spare.
  static constexpr std::size_t kInPlace = 8;
  boost::container::small_vector<std::int64_t, kInPlace> amounts_;
};

// One amount of a sparse list.
struct ResourceAmount {
  ResourceId resource{};
  std::int64_t amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// `list` in units as above: cpu in thousandths, all else in whole units, rounded up. Names that a
// scheduler does not count are left out; those of kUncounted are counted together.
[[nodiscard]] Resources to_resources(const k8s::ResourceList& list, ResourceNames& names);

}  // namespace sched
