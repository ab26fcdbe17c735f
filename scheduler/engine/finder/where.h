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

// The charge classes that a quota allows. What is counted and normalised is counted and normalised
// over the nodes of the scope.
struct Scope {
  const quota::ClassSets* sets = nullptr;  // outlives the scope; null: none
  quota::ClassSetId set = quota::kEveryClass;

  [[nodiscard]] bool is_all() const { return set == quota::kEveryClass; }
  [[nodiscard]] bool allows(quota::ChargeClassId charge_class) const {
    return is_all() || sets->contains(set, charge_class);
  }
  [[nodiscard]] bool allows(const NodeFacts& node) const { return allows(node.charge_class); }
};

// All of it outlives the question.
struct Where {
  Scope scope{};
  const Ruling* ruling = nullptr;  // for the pod; null: no node is
  const Trial* trial = nullptr;    // null: the nodes as they are
  bool if_empty = false;           // as if nothing were taken on the node

  // The nodes that are left out or may be other than they are, ascending. `room`: to put them
  // together in.
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
  // All others are out; null: they are not.
  [[nodiscard]] const std::vector<NodeSlot>* only() const {
    return ruling != nullptr && ruling->only() ? &*ruling->only() : nullptr;
  }
};

}  // namespace sched
