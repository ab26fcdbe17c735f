// The nodes that rules across nodes rule out for one pod, and why.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/framework/cluster_change.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sched {

struct Excluded {
  struct Why {
    std::string_view plugin;
    std::string_view reason;
  };
  std::vector<NodeSlot> slots;      // ascending, each once
  std::vector<std::size_t> why_of;  // index in `why`, by index in `slots`: the first rule
  std::vector<Why> why;
  ChangeMask wakes_on = 0;  // the changes after which the rules are worth asking again

  [[nodiscard]] bool none() const { return slots.empty(); }
  // Null: the node is not excluded.
  [[nodiscard]] const Why* find(NodeSlot slot) const {
    const auto at = std::lower_bound(slots.begin(), slots.end(), slot);
    if (at == slots.end() || *at != slot) return nullptr;
    return &why[why_of[static_cast<std::size_t>(at - slots.begin())]];
  }
};

}  // namespace sched
