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

bool Finder::takes_with_awaited(const PreparedShape& shape, NodeSlot node, Where where) const {
  const NodeFacts& facts = nodes_.facts(node);
  if (!facts.health.awaited) return false;
  Trial trial(nodes_);
  trial.replace(node, with_awaited(facts, names_, site_labels_));
  where.trial = &trial;
  where.if_empty = true;
  return verdict(shape, node, where).is_ok();
}

}  // namespace sched
