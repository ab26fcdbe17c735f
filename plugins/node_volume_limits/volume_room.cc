#include "plugins/node_volume_limits/volume_room.h"

namespace plugins {

template <typename Edit>
void VolumeRoom::change(const std::string& name, const Driver& driver, Edit&& edit) {
  const auto node = nodes_.try_emplace(name).first;
  const auto use = node->second.try_emplace(driver).first;
  Use& it = use->second;
  if (it.limit) {
    const auto room = by_room_.find(driver);
    room->second.erase({it.free(), &node->first});
    if (room->second.empty()) by_room_.erase(room);
    changed_.push_back(name);
  }
  edit(it);
  if (it.limit) {
    by_room_[driver].emplace(it.free(), &node->first);
    changed_.push_back(name);
  } else if (it.volumes.empty()) {
    node->second.erase(use);
    if (node->second.empty()) nodes_.erase(node);
  }
}

void VolumeRoom::add(const std::string& node, const Attached& volume, By by) {
  change(node, volume.first, [&](Use& use) {
    Users& users = use.volumes[volume.second];
    ++(by == By::kPod ? users.pods : users.attachments);
  });
  if (by == By::kPod) ++used_[volume];
}

void VolumeRoom::remove(const std::string& node, const Attached& volume, By by) {
  change(node, volume.first, [&](Use& use) {
    const auto users = use.volumes.find(volume.second);
    --(by == By::kPod ? users->second.pods : users->second.attachments);
    if (users->second.pods + users->second.attachments == 0) use.volumes.erase(users);
  });
  if (by != By::kPod) return;
  const auto used = used_.find(volume);
  if (--used->second == 0) used_.erase(used);
}

void VolumeRoom::limit(const std::string& node, const std::map<Driver, std::int64_t>& limits) {
  std::set<Driver> without;
  if (const auto known = nodes_.find(node); known != nodes_.end()) {
    for (const auto& [driver, use] : known->second) {
      if (use.limit && !limits.contains(driver)) without.insert(driver);
    }
  }
  for (const Driver& driver : without) {
    change(node, driver, [](Use& use) { use.limit.reset(); });
  }
  for (const auto& [driver, most] : limits) {
    change(node, driver, [most = most](Use& use) { use.limit = most; });
  }
}

const VolumeRoom::Use* VolumeRoom::find(const std::string& node, const Driver& driver) const {
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return nullptr;
  const auto use = known->second.find(driver);
  return use == known->second.end() ? nullptr : &use->second;
}

bool VolumeRoom::takes(const std::string& node, const Driver& driver, std::int64_t count) const {
  const Use* use = find(node, driver);
  return use == nullptr || !use->limit || use->free() >= count;
}

bool VolumeRoom::takes(const std::string& node, const Driver& driver,
                       const std::set<Attached>& volumes, const Change& change) const {
  const Use* use = find(node, driver);
  if (use == nullptr || !use->limit) return true;
  std::int64_t free = use->free();
  for (auto each = change.lower_bound({driver, {}});
       each != change.end() && each->first.first == driver; ++each) {
    const Users users = use->users(each->first.second);
    const std::int64_t others = users.pods + users.attachments;
    if (others > 0) ++free;
    if (others + each->second > 0) --free;
  }
  std::int64_t more = 0;
  for (auto volume = volumes.lower_bound({driver, {}});
       volume != volumes.end() && volume->first == driver; ++volume) {
    const auto changed = change.find(*volume);
    const std::int64_t change_here = changed == change.end() ? 0 : changed->second;
    if (use->users(volume->second).pods + change_here == 0) ++more;
  }
  return more == 0 || more <= free;
}

std::vector<const std::string*> VolumeRoom::short_of(const Driver& driver,
                                                     std::int64_t count) const {
  std::vector<const std::string*> all;
  const auto room = by_room_.find(driver);
  if (room == by_room_.end()) return all;
  for (const auto& [free, node] : room->second) {
    if (free >= count) break;
    all.push_back(node);
  }
  return all;
}

}  // namespace plugins
