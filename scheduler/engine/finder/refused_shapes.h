// Shapes that no node takes, for which nothing is stored by node.
//
// If very many shapes wait, there is no memory for the answers of all nodes to each of them, and
// computing these again whenever a pod ends would cost O(nodes) each. But the question about a
// waiting shape is almost always the same: does a node take it now? Once no node did, only nodes
// that changed since must be asked. So of a cache that is dropped this much is kept: the prepared
// shape, and the position in the change log.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/finder/prepared_shape.h"

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace sched {

class RefusedShapes {
 public:
  // `nodes` outlives it. `memory`: the limit in bytes, as passed to add(); the least recently used
  // shapes are dropped first.
  RefusedShapes(const Nodes& nodes, std::size_t memory) : nodes_(nodes), memory_limit_(memory) {}

  // All nodes refused the shape so, under the profile of that index, at that position of the log.
  // Not for a shape that is rejected as a whole.
  void add(std::size_t profile, ShapeRef shape, PreparedShape prepared, RefusedBy by,
           ChangeLog::Position position, std::size_t memory);
  // Called when a cache stores more about it.
  void remove(std::size_t profile, ShapeId shape);

  // How all nodes refuse the shape, as far as is known: where one refused it by its usage since it
  // was added, that is the answer. Nullopt means nothing. O(nodes that changed since the last call
  // · filters).
  [[nodiscard]] std::optional<RefusedBy> known(std::size_t profile, ShapeId shape);

  [[nodiscard]] std::size_t size() const { return shapes_.size(); }
  // Bytes, as passed to add().
  [[nodiscard]] std::size_t memory() const { return memory_; }

 private:
  using Key = std::pair<std::size_t, ShapeId>;  // profile, shape
  struct Entry {
    Key key;
    ShapeRef shape;  // so that the id stays the same
    PreparedShape prepared;
    RefusedBy by = RefusedBy::kUsage;
    ChangeLog::Position position = 0;
    std::size_t memory = 0;
  };
  void drop(std::list<Entry>::iterator entry);

  const Nodes& nodes_;
  std::size_t memory_limit_;
  std::size_t memory_ = 0;
  std::list<Entry> shapes_;  // the most recently used first
  std::map<Key, std::list<Entry>::iterator> by_key_;
};

}  // namespace sched
