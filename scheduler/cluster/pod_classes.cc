#include "scheduler/cluster/pod_classes.h"

namespace sched {

PodClassRef::PodClassRef(const PodClassRef& other) : classes_(other.classes_), id_(other.id_) {
  if (classes_ != nullptr) ++classes_->entry(id_).references;
}

PodClassRef::~PodClassRef() {
  if (classes_ != nullptr) classes_->release(id_);
}

const PodClass& PodClassRef::operator*() const { return (*classes_)[id_]; }

PodClassRef PodClasses::intern(const k8s::Pod& pod) {
  const std::size_t digest = class_digest(pod);
  const auto [from, to] = ids_.equal_range(digest);
  for (auto known = from; known != to; ++known) {
    Entry& alike = entry(known->second);
    if (!is_of_class(pod, alike.pod_class)) continue;
    ++alike.references;
    return {*this, known->second};
  }
  if (unused_.empty()) {
    unused_.push_back(static_cast<PodClassId>(entries_.size()));
    entries_.emplace_back();
  }
  const PodClassId id = unused_.back();
  unused_.pop_back();
  entry(id) = {.pod_class = class_of(pod), .references = 1, .at = ids_.emplace(digest, id)};
  births_.append(static_cast<NodeSlot>(id));
  return {*this, id};
}

void PodClasses::release(PodClassId id) {
  Entry& released = entry(id);
  if (--released.references > 0) return;
  ids_.erase(released.at);
  released = {};
  unused_.push_back(id);
}

}  // namespace sched
