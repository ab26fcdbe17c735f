#include "k8s-client/watch/known_objects.h"

#include <utility>
#include <vector>

namespace k8s {
namespace {

std::string place_of(const ObjectKey& key) {
  std::string place;
  // Space for the uid after it, so that see() allocates once.
  place.reserve(key.namespace_.size() + key.name.size() + key.uid.size() + 2);
  place += key.namespace_;
  place += '/';
  place += key.name;
  return place;
}

}  // namespace

std::optional<std::string_view> KnownObjects::uid_at(const ObjectKey& key) const {
  const auto found = records_.find(std::string_view(place_of(key)));
  if (found == records_.end()) return std::nullopt;
  return found->uid();
}

void KnownObjects::see(const ObjectKey& key) {
  std::string text = place_of(key);
  const auto found = records_.find(std::string_view(text));
  if (found != records_.end()) {
    found->mark = mark_;
    return;
  }
  const auto place_length = static_cast<std::uint32_t>(text.size());
  text += '/';
  text += key.uid;
  records_.insert(Record{.text = std::move(text), .place_length = place_length, .mark = mark_});
}

bool KnownObjects::remove(const ObjectKey& key) {
  const auto found = records_.find(std::string_view(place_of(key)));
  if (found == records_.end() || found->uid() != key.uid) return false;
  records_.erase(found);
  return true;
}

void KnownObjects::sweep(const std::function<void(ObjectKey)>& gone) {
  std::vector<ObjectKey> unseen;  // `gone` is called when the records are consistent again
  for (auto record = records_.begin(); record != records_.end();) {
    if (record->mark == mark_) {
      ++record;
      continue;
    }
    const std::string_view place = record->place();
    const std::size_t slash = place.find('/');
    unseen.push_back({.namespace_ = std::string(place.substr(0, slash)),
                      .name = std::string(place.substr(slash + 1)),
                      .uid = std::string(record->uid())});
    record = records_.erase(record);
  }
  for (ObjectKey& key : unseen) gone(std::move(key));
}

}  // namespace k8s
