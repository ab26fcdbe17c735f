#include "scheduler/cluster/pod_classes.h"

namespace sched {

PodClassRef::PodClassRef(const PodClassRef& other) : classes_(other.classes_), id_(other.id_) {
  if (classes_ != nullptr) ++classes_->entry(id_).references;
}

PodClassRef::~PodClassRef() {
  if (classes_ != nullptr) classes_->release(id_);
}

const PodClass& PodClassRef::operator*() const { return (*classes_)[id_]; }

PodClassRef PodClasses::intern(const k8s::Pod& pod, const PodClassRef& known) {
  if (!known.none() && is_of_class(pod, *known)) return known;
  if (static_cast<std::size_t>(last_) < entries_.size()) {
    Entry& last = entry(last_);
    if (last.references > 0 && is_of_class(pod, last.pod_class)) {
      ++last.references;
      return {*this, last_};
    }
  }
  PodClassRef found = find(pod, class_digest(pod));
  last_ = found.id();
  return found;
}

PodClassRef PodClasses::find(const k8s::Pod& pod, std::size_t digest) {
  const auto [from, to] = ids_.equal_range(digest);
  for (auto alike = from; alike != to; ++alike) {
    Entry& at = entry(alike->second);
    if (!is_of_class(pod, at.pod_class)) continue;
    ++at.references;
    return {*this, alike->second};
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
