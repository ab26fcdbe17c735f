// Scores a node by the value of its GPUs that a pod would leave (gpu_value.h).
//
// The rule is that of fragmentation gradient descent (Weng et al., ATC'23): subtract the pod's CPU,
// memory and GPU from the node, compare the value before and after, and rate the loss. A share of a
// GPU is tried on every device that has room for it. The best rating is the node's, and the pod
// goes to the first device with it. Whole GPUs are the first free ones; pods without GPU take only
// CPU and memory.
#pragma once

#include "plugins/support/gpu_ask.h"
#include "plugins/support/gpu_value.h"
#include "scheduler/framework/plugin.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace plugins {

class ValueScore : public sched::NodeScore {
 public:
  ValueScore(std::shared_ptr<const GpuValue> value, const GpuAsk& ask)
      : value_(std::move(value)), ask_(ask) {}

  [[nodiscard]] std::int64_t score(const sched::NodeView& node) const final;
  [[nodiscard]] std::optional<sched::gpu::DeviceShare> choose_device(
      const sched::NodeView& node) const final;

 protected:
  // The thousandths of a GPU that the pod asks for, over all devices.
  [[nodiscard]] std::int64_t requested() const { return ask_.total_milli(); }

 private:
  struct Best {
    std::int64_t rating = 0;
    std::optional<std::size_t> device;  // of a share
  };

  // The score of a node that loses so much value and has so much CPU left beside GPUs (milli-CPU; 0
  // on a node without GPUs of any kind). It must not increase with the loss.
  [[nodiscard]] virtual std::int64_t rate(std::int64_t lost, std::int64_t cpu_left) const = 0;

  [[nodiscard]] Best best(const sched::NodeView& node) const;
  // If devices are only counted.
  [[nodiscard]] std::int64_t rate_whole(const sched::NodeView& node) const;
  [[nodiscard]] Best best_device(const ProductValue& value, std::int64_t before,
                                 const FreeHost& after, sched::FreeDevices& free) const;
  void take_whole(sched::FreeDevices& free) const;

  std::shared_ptr<const GpuValue> value_;
  GpuAsk ask_;
};

}  // namespace plugins
