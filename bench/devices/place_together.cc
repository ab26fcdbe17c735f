#include "bench/devices/place_together.h"

#include "bench/devices/place.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

namespace bench {

using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;
namespace {

// Whether each profile has room by itself, and enough slices are free for all.
bool may_fit(const Geometry& geometry, const std::vector<InstanceRequest>& requests,
             const DeviceUses& uses) {
  std::int64_t asked = 0;
  for (const InstanceRequest& request : requests) {
    const auto devices = static_cast<std::int64_t>(uses.size());
    if (room_for(*request.profile, uses, devices) < request.count) return false;
    asked += request.count * request.profile->memory_slices;
  }
  std::int64_t free = 0;
  for (const DeviceUse& use : uses) {
    if (use.milli == 0) free += geometry.slices - std::popcount(use.slices);
  }
  return asked <= free;
}

// The hardest to place first.
std::vector<const Profile*> in_order(const std::vector<InstanceRequest>& requests) {
  std::vector<const Profile*> order;
  for (const InstanceRequest& request : requests) {
    order.insert(order.end(), static_cast<std::size_t>(request.count), request.profile);
  }
  const auto ease = [](const Profile* profile) {
    return std::make_tuple(-int{profile->memory_slices}, std::popcount(profile->starts),
                           !profile->is_variant, profile);
  };
  std::sort(order.begin(), order.end(),
            [&](const Profile* a, const Profile* b) { return ease(a) < ease(b); });
  return order;
}

class Search {
 public:
  Search(std::vector<const Profile*> order, DeviceUses uses)
      : order_(std::move(order)), uses_(std::move(uses)) {}

  std::optional<std::vector<DeviceShare>> run() && {
    if (!place_from(0)) return std::nullopt;
    return std::move(taken_);
  }

 private:
  bool place_from(std::size_t index) {
    if (index == order_.size()) return true;
    if (++steps_ > kMostSearchSteps || dead_ends_.contains({index, state()})) return false;
    for (const DeviceShare& place : places(*order_[index])) {
      add(uses_, place);
      taken_.push_back(place);
      if (place_from(index + 1)) return true;
      taken_.pop_back();
      subtract(uses_, place);
    }
    dead_ends_.emplace(index, state());
    return false;
  }

  // Places on all GPUs with different occupation, the default rule's choice first.
  [[nodiscard]] std::vector<DeviceShare> places(const Profile& profile) const {
    std::vector<std::tuple<int, int, DeviceShare>> rated;  // fullest GPU, highest start
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const auto here = uses_.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(uses_.begin(), here, *here) != here) continue;
      for (unsigned left = mig::legal_starts(profile, uses_[i]); left != 0; left &= left - 1) {
        const auto start = static_cast<unsigned>(std::countr_zero(left));
        rated.emplace_back(-std::popcount(uses_[i].slices), -static_cast<int>(start),
                           mig::instance_at(profile, static_cast<std::uint32_t>(i), start));
      }
    }
    std::stable_sort(rated.begin(), rated.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<DeviceShare> places;
    for (const auto& each : rated) places.push_back(std::get<2>(each));
    return places;
  }

  // Equally occupied GPUs of a node are interchangeable.
  [[nodiscard]] std::vector<std::uint32_t> state() const {
    std::vector<std::uint32_t> state;
    for (const DeviceUse& use : uses_) {
      if (use.milli == 0) state.push_back(std::uint32_t{use.extras} << 16U | use.slices);
    }
    std::sort(state.begin(), state.end());
    return state;
  }

  std::vector<const Profile*> order_;  // one per instance
  DeviceUses uses_;
  std::vector<DeviceShare> taken_;
  std::set<std::pair<std::size_t, std::vector<std::uint32_t>>> dead_ends_;
  int steps_ = 0;
};

}  // namespace

std::optional<std::vector<DeviceShare>> place_together(const Geometry& geometry,
                                                       const std::vector<InstanceRequest>& requests,
                                                       const DeviceUses& uses,
                                                       std::int64_t devices) {
  DeviceUses all = uses;
  all.resize(static_cast<std::size_t>(std::max<std::int64_t>(devices, 0)));
  if (!may_fit(geometry, requests, all)) return std::nullopt;
  return Search(in_order(requests), std::move(all)).run();
}

}  // namespace bench
