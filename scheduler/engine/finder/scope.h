// Which nodes a question is about: what rules across nodes leave.
//
// Today these are the charge classes that a quota allows. What is counted and normalised is counted
// and normalised over the nodes of the scope.
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/quota/class_set.h"

namespace sched {

struct Scope {
  const quota::ClassSets* sets = nullptr;  // outlives the scope; null: none
  quota::ClassSetId set = quota::kEveryClass;
  [[nodiscard]] bool allows(const NodeFacts& node) const {
    return set == quota::kEveryClass || sets->contains(set, node.charge_class);
  }
};

}  // namespace sched
