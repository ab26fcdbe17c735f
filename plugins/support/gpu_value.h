// What the free GPUs of a node are worth to the pods that typically come.
//
//   V(node) = Σ weight · U(kind of pod, node)
//
// over the kinds that may run on the node's model. U is how much of the node's free GPU, in
// thousandths, pods of that kind could use. With g_i free of device i, c free CPU and m free
// memory, k devices that are large enough for the kind, and su the sum of those:
//
//   U = 0    if its CPU or memory does not fit, or k is too small
//   U = su   otherwise: what fits on one GPU is usable;                            HostLimit::kOnce
//            but at most what the node's CPU and memory suffice for, one pod
//            after the other: su · min(1, c · gpus / (cpu · k), m · gpus / (memory · k)),
//            rounded down                                                         HostLimit::kShare
//
// With kOnce, kinds without memory, and the kinds' shares as weights, what V lacks of the node's
// free GPU is exactly its fragmentation F_n(M) of Weng et al., "Beware of Fragmentation" (ATC'23).
// So two policies that look different, fragmentation gradient descent and usable GPU, differ only
// in weights, limit and rounding, and share this. Integers throughout.
#pragma once

#include "scheduler/framework/free_devices.h"
#include "scheduler/gpu/product.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plugins {

// A kind of pod that asks for GPU, and its weight.
struct WeightedKind {
  std::int64_t cpu = 0;     // milli-CPU
  std::int64_t memory = 0;  // MiB
  std::int64_t gpus = 1;    // ≥ 1
  std::int64_t milli = 0;   // of each, 1 … 1,000
  std::int64_t weight = 0;  // ≥ 0; the sum over all kinds of a model is below 2^46
};

// The kinds that may run on a GPU model, by models; "" stands for all models without an entry.
using KindsByModel = std::map<std::string, std::vector<WeightedKind>>;

enum class HostLimit : std::uint8_t { kOnce, kShare };

// What is free beside the GPUs of a node; may be negative.
struct FreeHost {
  std::int64_t cpu = 0;     // milli-CPU
  std::int64_t memory = 0;  // MiB
};

// V on nodes of one GPU model.
class ProductValue {
 public:
  ProductValue(const std::vector<WeightedKind>& kinds, HostLimit limit);

  // Of a node with these devices.
  // O(devices · log devices + kinds).
  [[nodiscard]] std::int64_t of(const FreeHost& host, const sched::FreeDevices& free) const;

  // The same for `free` whole devices, 0 … kMaxDevices. O(1) if CPU and memory suffice for all
  // kinds, else O(kinds).
  [[nodiscard]] std::int64_t of_whole(const FreeHost& host, std::int64_t free) const;

 private:
  struct Kind {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t gpus = 0;
    std::int64_t weight = 0;
  };
  // Kinds with an equal request for each device: kinds_[from, to), by ascending cpu.
  struct Size {
    std::int32_t milli = 0;
    std::size_t from = 0;
    std::size_t to = 0;
  };
  // The devices large enough for a size, and what is free of them.
  struct Room {
    std::int64_t devices = 0;
    std::int64_t milli = 0;
  };

  // For a number of whole devices: their value with as much CPU and memory as can be used, and how
  // much that is.
  struct Fed {
    std::int64_t value = 0;
    FreeHost host;
  };

  [[nodiscard]] Fed fed(std::int64_t devices) const;
  [[nodiscard]] std::int64_t of_room(const FreeHost& host, const Room& room) const;
  [[nodiscard]] std::int64_t once(const Size& size, const FreeHost& host, const Room& room) const;
  [[nodiscard]] std::int64_t share(const Size& size, const FreeHost& host, const Room& room) const;

  HostLimit limit_;
  std::vector<Size> sizes_;  // by descending milli
  std::vector<Kind> kinds_;
  std::vector<Fed> fed_;  // by the number of devices
};

// V by GPU model.
class GpuValue {
 public:
  GpuValue(const KindsByModel& kinds, HostLimit limit);

  // For nodes of that model; a model without a name: nodes with labels that name none. Compared by
  // its 64-bit hash, so that the strings of 100,000 nodes are not read. O(models with an entry).
  [[nodiscard]] const ProductValue& on(const sched::gpu::Product& product) const;

 private:
  ProductValue others_;                // models without an entry
  std::vector<std::uint64_t> hashes_;  // of those with one
  std::vector<ProductValue> values_;   // of each
};

}  // namespace plugins
