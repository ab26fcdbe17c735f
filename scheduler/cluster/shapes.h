// The interned shapes in use: equal shapes have one id, so that what is computed for a shape is
// found by a small number.
//
// A ShapeRef keeps its shape. When the last one is destroyed, the shape is erased and its id may be
// given to another shape. Code that stores answers for shapes that no pod has any more (the score
// caches) keeps a reference, and limits their number.
#pragma once

#include "scheduler/framework/pod_shape.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

enum class ShapeId : std::uint32_t {};

class Shapes;

// A reference to an interned shape. `Shapes` outlives it.
class ShapeRef {
 public:
  ShapeRef() = default;
  ShapeRef(const ShapeRef& other);
  ShapeRef(ShapeRef&& other) noexcept
      : shapes_(std::exchange(other.shapes_, nullptr)), id_(other.id_) {}
  ShapeRef& operator=(ShapeRef other) noexcept {
    std::swap(shapes_, other.shapes_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~ShapeRef();

  [[nodiscard]] ShapeId id() const { return id_; }
  [[nodiscard]] const PodShape& operator*() const;
  [[nodiscard]] const PodShape* operator->() const { return &**this; }
  // The bytes of its texts, its lists and its key, and of one more text for each request, because
  // filters store one for their reasons. Also of a shape that was put aside.
  [[nodiscard]] std::size_t memory() const;

 private:
  friend class Shapes;
  ShapeRef(Shapes& shapes, ShapeId id) : shapes_(&shapes), id_(id) {}

  Shapes* shapes_ = nullptr;
  ShapeId id_{};
};

class Shapes {
 public:
  Shapes() = default;
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  [[nodiscard]] ShapeRef intern(PodShape shape);

  // Puts aside the shapes that ask for a resource with an id that is not `in_use`: no other pod
  // gets them, because the id will mean another resource. Existing references keep the shape and
  // its id. O(shapes).
  void put_aside_unless(const std::vector<bool>& in_use);

  // The shapes that pods may get.
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  friend class ShapeRef;
  using Ids = std::unordered_map<std::string, ShapeId>;  // by shape_key
  struct Entry {
    PodShape shape;
    std::size_t references = 0;
    std::size_t memory = 0;            // of shape and key
    const std::string* key = nullptr;  // in ids_, where keys do not move; null: put aside
  };

  Entry& entry(ShapeId id) { return entries_[static_cast<std::size_t>(id)]; }
  void release(ShapeId id);

  std::vector<Entry> entries_;
  std::vector<ShapeId> unused_;
  Ids ids_;
};

}  // namespace sched
