#include "plugins/support/gpu_value.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace plugins {
namespace {

// More than any node has or any fitting kind asks for: keeps products within 64 bits, whatever
// users write into their objects.
constexpr std::int64_t kMostCpu = 1'000'000'000;     // milli-CPU
constexpr std::int64_t kMostMemory = 1'000'000'000;  // MiB
constexpr auto kMostGpus = static_cast<std::int64_t>(sched::gpu::kMaxDevices);

bool can_run(const WeightedKind& kind) {
  return kind.weight > 0 && kind.milli > 0 && kind.milli <= sched::gpu::kMilliPerGpu &&
         kind.gpus > 0 && kind.gpus <= kMostGpus && kind.cpu <= kMostCpu &&
         kind.memory <= kMostMemory;
}

// Pods that ask for no memory fit whatever the node has.
FreeHost within_bounds(const FreeHost& host) {
  return {.cpu = std::min(host.cpu, kMostCpu),
          .memory = std::clamp<std::int64_t>(host.memory, 0, kMostMemory)};
}

const std::vector<WeightedKind>& on_other_models(const KindsByModel& kinds) {
  static const std::vector<WeightedKind> kNone;
  const auto found = kinds.find({});
  return found == kinds.end() ? kNone : found->second;
}

// The part there / needed of `all`, at most `all`; rounded down.
std::int64_t part(std::int64_t all, std::int64_t there, std::int64_t needed) {
  return there >= needed ? all : all * there / needed;
}

// The free parts, largest first. Insertion sort: a node has few devices.
struct Sorted {
  std::array<std::int32_t, sched::gpu::kMaxDevices> milli;  // the first `size` are set
  std::size_t size = 0;

  explicit Sorted(const sched::FreeDevices& free) {
    for (const std::int32_t part : free) {
      std::size_t at = size++;
      for (; at > 0 && milli[at - 1] < part; --at) milli[at] = milli[at - 1];
      milli[at] = part;
    }
  }
};

}  // namespace

ProductValue::ProductValue(const std::vector<WeightedKind>& kinds, HostLimit limit)
    : limit_(limit) {
  std::vector<WeightedKind> sorted;
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(sorted), can_run);
  std::sort(sorted.begin(), sorted.end(), [](const WeightedKind& a, const WeightedKind& b) {
    return std::tie(b.milli, a.cpu, a.gpus, a.memory) < std::tie(a.milli, b.cpu, b.gpus, b.memory);
  });
  for (const WeightedKind& kind : sorted) {
    if (sizes_.empty() || sizes_.back().milli != kind.milli) {
      sizes_.push_back({static_cast<std::int32_t>(kind.milli), kinds_.size(), kinds_.size()});
    }
    Size& size = sizes_.back();
    const bool again = size.to > size.from && kinds_.back().cpu == kind.cpu &&
                       kinds_.back().gpus == kind.gpus && kinds_.back().memory == kind.memory;
    if (again) {
      kinds_.back().weight += kind.weight;  // kinds that differ only in their models
      continue;
    }
    kinds_.push_back({kind.cpu, kind.memory, kind.gpus, kind.weight});
    ++size.to;
  }
  for (std::int64_t devices = 0; devices <= kMostGpus; ++devices) fed_.push_back(fed(devices));
}

std::int64_t ProductValue::of(const FreeHost& host, const sched::FreeDevices& free) const {
  if (free.size() == 0) return 0;
  const Sorted sorted(free);
  const FreeHost bounded = within_bounds(host);
  std::int64_t value = 0;
  Room room;
  std::size_t next = 0;
  for (const Size& size : sizes_) {
    for (; next < sorted.size && sorted.milli[next] >= size.milli; ++next) {
      room.milli += sorted.milli[next];
    }
    room.devices = static_cast<std::int64_t>(next);
    if (room.devices == 0) continue;
    value += limit_ == HostLimit::kOnce ? once(size, bounded, room) : share(size, bounded, room);
  }
  return value;
}

std::int64_t ProductValue::of_whole(const FreeHost& host, std::int64_t free) const {
  const Fed& fed = fed_[static_cast<std::size_t>(free)];
  if (host.cpu >= fed.host.cpu && host.memory >= fed.host.memory) return fed.value;
  return of_room(within_bounds(host), {free, free * sched::gpu::kMilliPerGpu});
}

ProductValue::Fed ProductValue::fed(std::int64_t devices) const {
  const Room room{devices, devices * sched::gpu::kMilliPerGpu};
  Fed fed;
  for (const Kind& kind : kinds_) {
    if (kind.gpus > devices) continue;
    fed.value += kind.weight * room.milli;
    // As many pods of the kind as the devices hold; the last one may fit only in part: rounded up.
    const auto of_pods = [&](std::int64_t each) {
      return limit_ == HostLimit::kOnce ? each : (each * devices + kind.gpus - 1) / kind.gpus;
    };
    fed.host.cpu = std::max({fed.host.cpu, kind.cpu, of_pods(kind.cpu)});
    fed.host.memory = std::max({fed.host.memory, kind.memory, of_pods(kind.memory)});
  }
  return fed;
}

std::int64_t ProductValue::of_room(const FreeHost& host, const Room& room) const {
  if (room.devices == 0) return 0;
  std::int64_t value = 0;
  for (const Size& size : sizes_) {
    value += limit_ == HostLimit::kOnce ? once(size, host, room) : share(size, host, room);
  }
  return value;
}

std::int64_t ProductValue::once(const Size& size, const FreeHost& host, const Room& room) const {
  std::int64_t weight = 0;
  for (std::size_t i = size.from; i < size.to && kinds_[i].cpu <= host.cpu; ++i) {
    const Kind& kind = kinds_[i];
    if (kind.gpus <= room.devices && kind.memory <= host.memory) weight += kind.weight;
  }
  return weight * room.milli;
}

std::int64_t ProductValue::share(const Size& size, const FreeHost& host, const Room& room) const {
  std::int64_t fed = 0;  // weight of the kinds that CPU and memory suffice for
  std::int64_t value = 0;
  for (std::size_t i = size.from; i < size.to && kinds_[i].cpu <= host.cpu; ++i) {
    const Kind& kind = kinds_[i];
    if (kind.gpus > room.devices || kind.memory > host.memory) continue;
    const std::int64_t usable =
        std::min(part(room.milli, host.cpu * kind.gpus, kind.cpu * room.devices),
                 part(room.milli, host.memory * kind.gpus, kind.memory * room.devices));
    if (usable == room.milli) {
      fed += kind.weight;
    } else {
      value += kind.weight * usable;
    }
  }
  return value + fed * room.milli;
}

GpuValue::GpuValue(const KindsByModel& kinds, HostLimit limit)
    : others_(on_other_models(kinds), limit) {
  for (const auto& [model, on_model] : kinds) {
    if (model.empty()) continue;
    hashes_.push_back(sched::text_hash(model));
    values_.emplace_back(on_model, limit);
  }
}

const ProductValue& GpuValue::on(const sched::gpu::Product& product) const {
  const auto found = std::find(hashes_.begin(), hashes_.end(), product.hash);
  return found == hashes_.end() ? others_
                                : values_[static_cast<std::size_t>(found - hashes_.begin())];
}

}  // namespace plugins
