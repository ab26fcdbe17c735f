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

bool VolumeRoom::is_used(const std::string& node, const Attached& volume) const {
  const Use* use = find(node, volume.first);
  if (use == nullptr) return false;
  const auto users = use->volumes.find(volume.second);
  return users != use->volumes.end() && users->second.pods > 0;
}

std::vector<std::pair<const std::string*, std::int64_t>> VolumeRoom::short_of(
    const Driver& driver, std::int64_t count) const {
  std::vector<std::pair<const std::string*, std::int64_t>> all;
  const auto room = by_room_.find(driver);
  if (room == by_room_.end()) return all;
  for (const auto& [free, node] : room->second) {
    if (free >= count) break;
    all.emplace_back(node, free);
  }
  return all;
}

}  // namespace plugins
