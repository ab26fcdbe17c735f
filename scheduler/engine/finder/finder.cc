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
  if (!verdict.is_ok()) return verdict;
  if (!where.scope.allows(asked.facts)) return NodeVerdict::no_quota();
  const bool excluded = where.ruling != nullptr && where.ruling->find(node) != nullptr;
  return excluded ? NodeVerdict::excluded() : verdict;
}

}  // namespace sched
