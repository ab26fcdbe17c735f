#include "scheduler/cluster/shapes.h"

#include <algorithm>

namespace sched {

ShapeRef::ShapeRef(const ShapeRef& other) : shapes_(other.shapes_), id_(other.id_) {
  if (shapes_ != nullptr) ++shapes_->entry(id_).references;
}

ShapeRef::~ShapeRef() {
  if (shapes_ != nullptr) shapes_->release(id_);
}

const PodShape& ShapeRef::operator*() const { return shapes_->entry(id_).shape; }

std::size_t ShapeRef::memory() const { return shapes_->entry(id_).memory; }

ShapeRef Shapes::intern(PodShape shape) {
  const auto [found, is_new] = ids_.try_emplace(shape_key(shape));
  if (is_new) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<ShapeId>(entries_.size()));
      entries_.emplace_back();
    }
    found->second = unused_.back();
    unused_.pop_back();
    const std::size_t memory =
        found->first.capacity() + heap_bytes(shape) + shape.requests.size() * sizeof(std::string);
    entry(found->second) = {
        .shape = std::move(shape), .references = 0, .memory = memory, .key = &found->first};
  }
  ++entry(found->second).references;
  return {*this, found->second};
}

void Shapes::put_aside_unless(const std::vector<bool>& in_use) {
  std::erase_if(ids_, [&](const auto& interned) {
    Entry& at = entry(interned.second);
    const bool stays = std::all_of(at.shape.requests.begin(), at.shape.requests.end(),
                                   [&](const ResourceAmount& request) {
                                     return in_use[static_cast<std::size_t>(request.resource)];
                                   });
    if (!stays) at.key = nullptr;
    return !stays;
  });
}

void Shapes::release(ShapeId id) {
  Entry& released = entry(id);
  if (--released.references > 0) return;
  if (released.key != nullptr) ids_.erase(ids_.find(*released.key));
  released = {};
  unused_.push_back(id);
}

}  // namespace sched
