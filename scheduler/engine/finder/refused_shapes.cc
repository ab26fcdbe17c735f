#include "scheduler/engine/finder/refused_shapes.h"

#include <iterator>

namespace sched {

void RefusedShapes::add(std::size_t profile, ShapeRef shape, PreparedShape prepared, RefusedBy by,
                        ChangeLog::Position position, std::size_t memory) {
  const Key key{profile, shape.id()};
  shapes_.push_front({.key = key,
                      .shape = std::move(shape),
                      .prepared = std::move(prepared),
                      .by = by,
                      .position = position,
                      .memory = memory});
  by_key_.emplace(key, shapes_.begin());
  memory_ += memory;
  while (memory_ > memory_limit_) drop(std::prev(shapes_.end()));
}

void RefusedShapes::remove(std::size_t profile, ShapeId shape) {
  const auto found = by_key_.find({profile, shape});
  if (found != by_key_.end()) drop(found->second);
}

std::optional<RefusedBy> RefusedShapes::known(std::size_t profile, ShapeId shape) {
  const auto found = by_key_.find({profile, shape});
  if (found == by_key_.end()) return std::nullopt;
  shapes_.splice(shapes_.begin(), shapes_, found->second);
  Entry& entry = shapes_.front();
  bool taken = false;
  nodes_.changes().since(entry.position, [&](NodeSlot slot) {
    if (taken || !nodes_.present(slot)) return;
    const NodeVerdict verdict = entry.prepared.check(nodes_.view(slot));
    taken = verdict.is_ok();
    if (!entry.prepared.refuses_by_facts(verdict)) entry.by = RefusedBy::kUsage;
  });
  entry.position = nodes_.changes().end();
  if (!taken) return entry.by;
  drop(shapes_.begin());
  return std::nullopt;
}

void RefusedShapes::drop(std::list<Entry>::iterator entry) {
  memory_ -= entry->memory;
  by_key_.erase(entry->key);
  shapes_.erase(entry);
}

}  // namespace sched
