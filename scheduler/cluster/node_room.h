// Amounts of the resources that pods lack most often, side by side: one quick look tells that a
// node which has changed is of no use to a pod that waits, and most pods that wait need no other.
#pragma once

#include "scheduler/framework/node_view.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sched {

class NodeRoom {
 public:
  static constexpr std::array kCounted{kCpu, kMemory, kEphemeralStorage, kNvidiaGpu};

  // The least that a node must have free; 0, which is there at first: that does not matter.
  void needs(std::size_t counted, std::int64_t amount) {
    amounts_[counted] = std::max(amounts_[counted], amount);
  }
  // At least what is free on that node, of each.
  void widen(const NodeView& node) {
    for (std::size_t i = 0; i < kCounted.size(); ++i) needs(i, node.free(kCounted[i]));
  }
  // Whether there is as much as `least`, of each.
  [[nodiscard]] bool holds(const NodeRoom& least) const {
    for (std::size_t i = 0; i < kCounted.size(); ++i) {
      if (amounts_[i] < least.amounts_[i]) return false;
    }
    return true;
  }

  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;

 private:
  std::array<std::int64_t, kCounted.size()> amounts_{};  // ≥ 0
};

}  // namespace sched
