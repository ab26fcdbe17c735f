#include "plugins/volume_restrictions/disks_in_use.h"

#include <algorithm>
#include <set>
#include <utility>

namespace plugins {
namespace {

constexpr const char* kEbs = "awsElasticBlockStore";
constexpr const char* kRbd = "rbd";

bool is_compared(const k8s::Volume& volume) {
  if (volume.kind != k8s::Volume::Kind::kDisk) return false;
  return volume.source == "gcePersistentDisk" || volume.source == kEbs ||
         volume.source == "iscsi" || volume.source == kRbd;
}

bool have_one_in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) return true;
    ++(*left < *right ? left : right);
  }
  return false;
}

}  // namespace

std::vector<std::pair<DisksInUse::Key, DisksInUse::Use>> DisksInUse::uses_of(const k8s::Pod& pod) {
  std::vector<std::pair<Key, Use>> all;
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (!is_compared(volume)) continue;
    const k8s::Disk& disk = volume.disk;
    Use use{.node = pod.spec.node_name, .read_only = disk.read_only && volume.source != kEbs};
    // An RBD disk without monitors is equal to no other disk. The API server's validation refuses
    // it.
    if (volume.source == kRbd) {
      if (disk.monitors.empty()) continue;
      if (disk.monitors.size() <= kMostMonitors) use.monitors = disk.monitors;
      std::sort(use.monitors.begin(), use.monitors.end());
    }
    all.emplace_back(Key{volume.source, disk.id, volume.source == kRbd ? disk.pool : ""},
                     std::move(use));
  }
  // A pod that names a disk a thousand times is compared with its users once.
  const auto order = [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.read_only, a.second.monitors) <
           std::tie(b.first, b.second.read_only, b.second.monitors);
  };
  std::sort(all.begin(), all.end(), order);
  all.erase(std::unique(all.begin(), all.end(),
                        [&](const auto& a, const auto& b) { return !order(a, b); }),
            all.end());
  return all;
}

void DisksInUse::add(const k8s::Pod& pod) {
  remove(pod.metadata.uid);
  std::vector<Users::iterator> disks;
  for (auto& [key, use] : uses_of(pod)) {
    const auto disk = users_.try_emplace(key).first;
    disk->second.emplace(pod.metadata.uid, std::move(use));
    // uses_of() is sorted, so two uses of one disk are neighbours.
    if (disks.empty() || disks.back() != disk) disks.push_back(disk);
  }
  if (!disks.empty()) of_pod_[pod.metadata.uid] = std::move(disks);
}

void DisksInUse::remove(const std::string& uid) {
  const auto pod = of_pod_.find(uid);
  if (pod == of_pod_.end()) return;
  for (const Users::iterator disk : pod->second) {
    disk->second.erase(uid);
    if (disk->second.empty()) users_.erase(disk);
  }
  of_pod_.erase(pod);
}

bool DisksInUse::conflict(const Use& a, const Use& b) {
  if (a.read_only && b.read_only) return false;
  const bool all_count = a.monitors.empty() || b.monitors.empty();
  return all_count || have_one_in_common(a.monitors, b.monitors);
}

std::vector<std::string> DisksInUse::conflicts(const k8s::Pod& pod,
                                               const sched::PodDifference& trial) const {
  if (users_.empty() && trial.added().empty()) return {};
  std::set<std::string> nodes;
  const auto all_wanted = uses_of(pod);
  for (const auto& [key, wanted] : all_wanted) {
    const auto users = users_.find(key);
    if (users == users_.end()) continue;
    for (const auto& [uid, use] : users->second) {
      if (uid == pod.metadata.uid || trial.is_gone(uid)) continue;
      if (conflict(use, wanted)) nodes.insert(use.node);
    }
  }
  if (all_wanted.empty()) return {};
  for (const sched::PodDifference::Added& added : trial.added()) {
    for (const auto& [key, use] : uses_of(*added.pod)) {
      for (const auto& [same, wanted] : all_wanted) {
        if (same == key && conflict(use, wanted)) nodes.emplace(added.node);
      }
    }
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace plugins
