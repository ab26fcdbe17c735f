// Amounts of the resources that pods lack most often. A quick comparison shows that a changed node
// cannot help a waiting pod; for most waiting pods no other check is needed.
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

  // Raises the least amount that a node must have free; initially 0, which means no requirement.
  void needs(std::size_t counted, std::int64_t amount) {
    amounts_[counted] = std::max(amounts_[counted], amount);
  }
  // Raises each amount to at least what is free on that node.
  void widen(const NodeView& node) {
    for (std::size_t i = 0; i < kCounted.size(); ++i) needs(i, node.free(kCounted[i]));
  }
  // Whether each amount is at least that of `least`.
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
