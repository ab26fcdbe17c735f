#include "scheduler/engine/finder/finder.h"

namespace sched {

NodeView Finder::view(NodeSlot node, const Where& where) const {
  static const NodeUsage kNothing;
  const NodeView view = where.trial == nullptr ? nodes_.view(node) : where.trial->view(node);
  return where.if_empty ? NodeView{view.facts, kNothing} : view;
}

NodeVerdict Finder::verdict(const PreparedShape& shape, NodeSlot node, const Where& where) const {
  const NodeView asked = view(node, where);
  const NodeVerdict verdict = shape.check(asked);
  return verdict.is_ok() && !where.scope.allows(asked.facts) ? NodeVerdict::no_quota() : verdict;
}

}  // namespace sched
