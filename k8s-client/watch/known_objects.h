// The keys of all objects that a reader has been given, and which of them a new list has not shown.
//
// A list shows only objects that exist. Deleted objects are found by mark and sweep: begin_list()
// invalidates all marks, see() marks each listed object, sweep() removes the objects without a
// mark. Only keys are stored, one string per object (about 150 bytes for a pod), because the reader
// has the objects themselves. Not thread-safe.
#pragma once

#include "k8s-client/watch/object_key.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace k8s {

class KnownObjects {
 public:
  // The known uid at this namespace and name; nullopt: none. Valid until it is removed.
  [[nodiscard]] std::optional<std::string_view> uid_at(const ObjectKey& key) const;

  // Adds and marks the object. An object known at its place must have the same uid: see remove().
  void see(const ObjectKey& key);

  // Erases the object; false if none with this uid is known at its place.
  bool remove(const ObjectKey& key);

  // From here on no object counts as seen.
  void begin_list() { ++mark_; }

  // Erases all objects that were not seen since begin_list() and calls `gone` for each, in the
  // order of their namespaces and names. O(objects).
  void sweep(const std::function<void(ObjectKey)>& gone);

  [[nodiscard]] std::size_t size() const { return records_.size(); }

 private:
  // "namespace/name/uid": neither a namespace nor a name contains a slash.
  struct Record {
    std::string text;
    std::uint32_t place_length;  // of "namespace/name"
    mutable std::uint32_t mark;  // not part of the key

    [[nodiscard]] std::string_view place() const {
      return std::string_view(text).substr(0, place_length);
    }
    [[nodiscard]] std::string_view uid() const {
      return std::string_view(text).substr(place_length + 1);
    }
  };
  struct ByPlace {
    using is_transparent = void;
    bool operator()(const Record& a, const Record& b) const { return a.place() < b.place(); }
    bool operator()(std::string_view a, const Record& b) const { return a < b.place(); }
    bool operator()(const Record& a, std::string_view b) const { return a.place() < b; }
  };

  // A tree: whoever creates objects chooses their names, and could make hashes of them collide.
  std::set<Record, ByPlace> records_;
  std::uint32_t mark_ = 0;
};

}  // namespace k8s
