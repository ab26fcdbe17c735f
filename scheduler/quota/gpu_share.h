// An amount of GPUs as the quota ledger counts it: an integer, so that sums are exact.
//
// 36,036,000 units are one GPU. That number is divisible by 1 … 16, 24, 32, 48 and 1,000: every
// MIG instance (2, 4, 8 or 12 memory slices a GPU), every usual count of replicas and every
// thousandth is a whole number of units. Other counts of replicas are rounded up, so that a GPU's
// replicas together never count less than the GPU.
//
// A single amount is at most a million GPUs, more than any cluster has, so that sums cannot
// overflow. A pod that asks for more is refused by the nodes.
#pragma once

#include "k8s-client/api/quantity.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>

namespace sched::quota {

class GpuShare {
 public:
  static constexpr std::int64_t kUnitsPerGpu = 36'036'000;
  static constexpr std::int64_t kMostGpus = 1'000'000;

  constexpr GpuShare() = default;
  // Whole GPUs: at most kMostGpus; zero if `count` is below zero.
  [[nodiscard]] static constexpr GpuShare gpus(std::int64_t count) {
    return GpuShare(std::clamp<std::int64_t>(count, 0, kMostGpus) * kUnitsPerGpu);
  }
  // One `parts`-th of a GPU, rounded up; a whole one where `parts` is below 1.
  [[nodiscard]] static constexpr GpuShare one_of(std::int64_t parts) {
    if (parts <= 1) return gpus(1);
    return GpuShare(kUnitsPerGpu / parts + (kUnitsPerGpu % parts != 0 ? 1 : 0));
  }
  // From a quantity of GPUs, rounded up to a thousandth.
  [[nodiscard]] static GpuShare of(const k8s::Quantity& gpus);

  [[nodiscard]] constexpr std::int64_t units() const { return units_; }
  [[nodiscard]] constexpr bool is_zero() const { return units_ == 0; }

  // `count` times this, at most kMostGpus.
  [[nodiscard]] constexpr GpuShare times(std::int64_t count) const {
    std::int64_t product = 0;
    const bool overflow =
        __builtin_mul_overflow(units_, std::max<std::int64_t>(count, 0), &product);
    return overflow ? gpus(kMostGpus) : std::min(GpuShare(product), gpus(kMostGpus));
  }
  // This amount · share / whole, rounded down. `share` is at most `whole`; if `whole` is zero, so
  // is the result.
  [[nodiscard]] constexpr GpuShare part(GpuShare share, GpuShare whole) const {
    if (whole.is_zero()) return {};
    __extension__ using Wide = __int128;
    return GpuShare(static_cast<std::int64_t>(Wide{units_} * share.units_ / whole.units_));
  }
  // By how much this is more than `other`; zero if it is not.
  [[nodiscard]] constexpr GpuShare beyond(GpuShare other) const {
    return units_ > other.units_ ? GpuShare(units_ - other.units_) : GpuShare();
  }

  constexpr GpuShare& operator+=(GpuShare other) {
    units_ += other.units_;
    return *this;
  }
  constexpr GpuShare& operator-=(GpuShare other) {
    units_ -= other.units_;
    return *this;
  }
  friend constexpr GpuShare operator+(GpuShare a, GpuShare b) { return a += b; }
  friend constexpr GpuShare operator-(GpuShare a, GpuShare b) { return a -= b; }
  friend constexpr auto operator<=>(GpuShare, GpuShare) = default;

 private:
  constexpr explicit GpuShare(std::int64_t units) : units_(units) {}
  std::int64_t units_ = 0;
};

// In GPUs, to be read: "4", "0.5", "0.334"; three places, rounded up.
[[nodiscard]] std::string to_text(GpuShare share);

// The same as a Kubernetes quantity: "4", "500m", "334m".
[[nodiscard]] k8s::Quantity to_quantity(GpuShare share);

}  // namespace sched::quota
