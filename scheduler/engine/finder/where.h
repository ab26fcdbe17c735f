// Which nodes a question is about, and in which world.
#pragma once

#include "scheduler/engine/world/ruling.h"
#include "scheduler/engine/world/trial.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/quota/class_set.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace sched {

// The charge classes that a quota allows. Counts and normalisation are over the nodes of the scope.
struct Scope {
  const quota::ClassSets* sets = nullptr;  // outlives the scope; null: no restriction
  quota::ClassSetId set = quota::kEveryClass;

  [[nodiscard]] bool is_all() const { return set == quota::kEveryClass; }
  [[nodiscard]] bool allows(quota::ChargeClassId charge_class) const {
    return is_all() || sets->contains(set, charge_class);
  }
  [[nodiscard]] bool allows(const NodeFacts& node) const { return allows(node.charge_class); }
};

// Which nodes, and in which world. The question must not outlive what it refers to.
struct Where {
  Scope scope{};
  const Ruling* ruling = nullptr;  // for the pod; null: no node is ruled out
  const Trial* trial = nullptr;    // null: the nodes as they are
  bool if_empty = false;           // as if nothing were taken on the node

  // The nodes that are left out or may differ from their present state, ascending. `room`: memory
  // for the union.
  [[nodiscard]] std::span<const NodeSlot> aside(std::vector<NodeSlot>& room) const {
    if (trial == nullptr || trial->touched().empty()) {
      return ruling == nullptr ? std::span<const NodeSlot>{} : ruling->out();
    }
    const std::vector<NodeSlot>& touched = trial->touched();
    if (ruling == nullptr || ruling->out().empty()) return touched;
    std::set_union(ruling->out().begin(), ruling->out().end(), touched.begin(), touched.end(),
                   std::back_inserter(room));
    return room;
  }
  // If not null, all other nodes are left out.
  [[nodiscard]] const std::vector<NodeSlot>* only() const {
    return ruling != nullptr && ruling->only() ? &*ruling->only() : nullptr;
  }
};

}  // namespace sched
