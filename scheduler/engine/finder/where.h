// Which nodes a question is about, and in which world.
#pragma once

#include "scheduler/engine/world/excluded.h"
#include "scheduler/engine/world/trial.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/quota/class_set.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace sched {

// The charge classes that a quota allows. What is counted and normalised is counted and normalised
// over the nodes of the scope.
struct Scope {
  const quota::ClassSets* sets = nullptr;  // outlives the scope; null: none
  quota::ClassSetId set = quota::kEveryClass;

  [[nodiscard]] bool is_all() const { return set == quota::kEveryClass; }
  [[nodiscard]] bool allows(quota::ClassId charge_class) const {
    return is_all() || sets->contains(set, charge_class);
  }
  [[nodiscard]] bool allows(const NodeFacts& node) const { return allows(node.charge_class); }
};

// All of it outlives the question.
struct Where {
  Scope scope{};
  const Excluded* excluded = nullptr;  // for the pod; null: no node is
  const Trial* trial = nullptr;        // null: the nodes as they are
  bool if_empty = false;               // as if nothing were taken on the node

  // The nodes that are left out or may be other than they are, ascending.
  [[nodiscard]] std::vector<NodeSlot> aside() const {
    std::vector<NodeSlot> slots;
    if (excluded != nullptr) slots = excluded->slots;
    if (trial == nullptr || trial->touched().empty()) return slots;
    std::vector<NodeSlot> both;
    std::set_union(slots.begin(), slots.end(), trial->touched().begin(), trial->touched().end(),
                   std::back_inserter(both));
    return both;
  }
};

}  // namespace sched
