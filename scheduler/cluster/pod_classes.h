// The interned classes of the pods in use, so that what rules across nodes compute for a class is
// found by a small number.
//
// A PodClassRef keeps its class. When the last one is destroyed, the class is erased and its id may
// be given to another class. Code that stores answers by id learns from births() which ids have
// been given out again.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/framework/pod_class.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

enum class PodClassId : std::uint32_t {};

class PodClasses;

// A reference to an interned class. `PodClasses` outlives it.
class PodClassRef {
 public:
  PodClassRef() = default;
  PodClassRef(const PodClassRef& other);
  PodClassRef(PodClassRef&& other) noexcept
      : classes_(std::exchange(other.classes_, nullptr)), id_(other.id_) {}
  PodClassRef& operator=(PodClassRef other) noexcept {
    std::swap(classes_, other.classes_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~PodClassRef();

  [[nodiscard]] bool none() const { return classes_ == nullptr; }
  [[nodiscard]] PodClassId id() const { return id_; }
  [[nodiscard]] const PodClass& operator*() const;

  // The same class, or both none.
  friend bool operator==(const PodClassRef& a, const PodClassRef& b) {
    return a.classes_ == b.classes_ && (a.classes_ == nullptr || a.id_ == b.id_);
  }

 private:
  friend class PodClasses;
  PodClassRef(PodClasses& classes, PodClassId id) : classes_(&classes), id_(id) {}

  PodClasses* classes_ = nullptr;
  PodClassId id_{};
};

class PodClasses {
 public:
  PodClasses() = default;
  PodClasses(const PodClasses&) = delete;
  PodClasses& operator=(const PodClasses&) = delete;

  // `known`: the pod's previous class, if it had one; it is usually the same.
  [[nodiscard]] PodClassRef intern(const k8s::Pod& pod, const PodClassRef& known = {});
  // The class of an id that is in use.
  [[nodiscard]] const PodClass& operator[](PodClassId id) const {
    return entries_[static_cast<std::size_t>(id)].pod_class;
  }
  // The ids, in the order in which they were given out.
  [[nodiscard]] const ChangeLog& births() const { return births_; }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  friend class PodClassRef;
  using Ids = std::unordered_multimap<std::size_t, PodClassId>;  // by class_digest()
  struct Entry {
    PodClass pod_class;
    std::size_t references = 0;
    Ids::iterator at;
  };

  Entry& entry(PodClassId id) { return entries_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] PodClassRef find(const k8s::Pod& pod, std::size_t digest);
  void release(PodClassId id);

  std::vector<Entry> entries_;
  std::vector<PodClassId> unused_;
  Ids ids_;
  ChangeLog births_;
  // The class that was asked for last: similar pods often come one after the other. Keeps no class
  // alive.
  PodClassId last_{};
};

}  // namespace sched
