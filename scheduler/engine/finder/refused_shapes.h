// Shapes that no node takes, of which nothing is kept by node.
//
// Where very many shapes wait, there is no room for the answers of all nodes to each of them, and
// to work them out anew whenever a pod ends somewhere would cost O(nodes) each. But what is asked
// of a shape that waits is almost always the same: does a node take it now? Once none did, only
// those that changed since have to be asked. So of a cache that has to go that much is kept: the
// prepared shape, and since when.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/finder/prepared_shape.h"

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace sched {

class RefusedShapes {
 public:
  // `nodes` outlives it. `memory`: what it may keep, in bytes, as add() is told; the least recently
  // used go first.
  RefusedShapes(const Nodes& nodes, std::size_t memory) : nodes_(nodes), memory_limit_(memory) {}

  // No node took the shape under the profile of that index when the log was there. Not one that is
  // rejected as a whole.
  void add(std::size_t profile, ShapeRef shape, PreparedShape prepared,
           ChangeLog::Position position, std::size_t memory);
  // More is kept of it now.
  void remove(std::size_t profile, ShapeId shape);

  // Whether it is known that no node takes it. False says nothing. O(nodes that changed since it
  // was last asked · filters).
  [[nodiscard]] bool knows(std::size_t profile, ShapeId shape);

  [[nodiscard]] std::size_t size() const { return shapes_.size(); }
  // Bytes, as told.
  [[nodiscard]] std::size_t memory() const { return memory_; }

 private:
  using Key = std::pair<std::size_t, ShapeId>;  // profile, shape
  struct Entry {
    Key key;
    ShapeRef shape;  // so that the id stays its
    PreparedShape prepared;
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
