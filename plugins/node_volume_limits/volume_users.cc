#include "plugins/node_volume_limits/volume_users.h"

#include "plugins/support/in_tree_disks.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace plugins {
namespace {

using namespace sched;

Attached attached_as(const k8s::PersistentVolume& volume) {
  if (!volume.in_tree_disk) return {volume.csi_driver, volume.csi_volume_handle};
  const InTreeKind* kind = in_tree_kind(volume.in_tree_disk->source);
  auto handle = handle_of(volume);
  if (kind == nullptr || !handle) return {};
  return {std::string(kind->driver), *std::move(handle)};
}

std::vector<Attached> disks_of(const k8s::Pod& pod) {
  std::vector<Attached> all;
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (volume.kind != k8s::Volume::Kind::kDisk) continue;
    const InTreeKind* kind = in_tree_kind(volume.source);
    if (kind == nullptr) continue;
    if (auto handle = handle_of(volume)) {
      all.emplace_back(std::string(kind->driver), *std::move(handle));
    }
  }
  return all;
}

}  // namespace

class VolumeUsers::Applier {
 public:
  explicit Applier(VolumeUsers& all) : all_(all) {}

  void operator()(const VolumeClaimUpserted& change) { is_news_ = all_.put(change.object); }
  void operator()(const VolumeClaimGone& change) {
    const auto claim = all_.claims_.find({change.namespace_, change.name});
    if (claim == all_.claims_.end()) return;
    all_.name_volume(claim->first, claim->second.volume, {});
    all_.claims_.erase(claim);
    all_.recount_users({change.namespace_, change.name});
  }
  void operator()(const VolumeUpserted& change) {
    const k8s::PersistentVolume& volume = change.object;
    all_.volumes_[volume.metadata.name] = {.attached = attached_as(volume),
                                           .is_csi = !volume.csi_driver.empty()};
    all_.recount_users_of(volume.metadata.name);
  }
  void operator()(const VolumeGone& change) {
    if (all_.volumes_.erase(change.name) != 0) all_.recount_users_of(change.name);
  }
  void operator()(const ObjectUpserted<k8s::StorageClass>& change) {
    all_.provisioners_[change.object.metadata.name] = change.object.provisioner;
    all_.recount_all();
  }
  void operator()(const ObjectGone<k8s::StorageClass>& change) {
    all_.provisioners_.erase(change.name);
    all_.recount_all();
  }
  void operator()(const ObjectUpserted<k8s::CsiNode>& change) {
    all_.put(change.object.metadata.name, change.object.drivers);
  }
  void operator()(const ObjectGone<k8s::CsiNode>& change) { all_.put(change.name, {}); }
  void operator()(const ObjectUpserted<k8s::CsiDriver>& change) { all_.put(change.object); }
  void operator()(const ObjectGone<k8s::CsiDriver>& change) { all_.required_.erase(change.name); }
  void operator()(const ObjectUpserted<k8s::VolumeAttachment>& change) {
    const k8s::VolumeAttachment& made = change.object;
    all_.forget_attachment(made.metadata.name);
    if (made.volume.empty()) return;
    Attachment& attachment = all_.attachments_[made.metadata.name];
    attachment = {.node = made.node, .volume = made.volume, .attached = {}};
    all_.attachments_of_[made.volume].insert(made.metadata.name);
    all_.recount(attachment);
  }
  void operator()(const ObjectGone<k8s::VolumeAttachment>& change) {
    all_.forget_attachment(change.name);
  }
  void operator()(const BoundPodUpserted& change) {
    const k8s::Pod& pod = change.pod;
    if (pod.spec.volumes.empty()) return;
    all_.forget_pod(pod.metadata.uid);
    std::vector<ClaimKey> claims = claims_of(pod);
    std::vector<Attached> disks = disks_of(pod);
    if (claims.empty() && disks.empty()) return;
    for (const ClaimKey& claim : claims) all_.users_[claim].insert(pod.metadata.uid);
    Pod& known = all_.pods_[pod.metadata.uid];
    known = {pod.spec.node_name, std::move(claims), std::move(disks), {}};
    all_.recount(known);
  }
  void operator()(const BoundPodGone& change) { all_.forget_pod(change.uid); }
  template <typename Other>
  void operator()(const Other& /*change*/) {}

  [[nodiscard]] bool is_news() const { return is_news_; }

 private:
  VolumeUsers& all_;
  bool is_news_ = true;
};

bool VolumeUsers::apply(const ClusterChange& change) {
  added_.forget();
  Applier applier(*this);
  std::visit(applier, change);
  return applier.is_news();
}

bool VolumeUsers::put(const k8s::PersistentVolumeClaim& claim) {
  const ClaimKey key = key_of(claim.metadata);
  VolumeClaim now{claim.volume_name, claim.storage_class};
  const auto [known, is_new] = claims_.try_emplace(key);
  if (!is_new && known->second == now) return false;
  name_volume(key, known->second.volume, now.volume);
  known->second = std::move(now);
  recount_users(key);
  return true;
}

void VolumeUsers::put(const std::string& node, const std::vector<k8s::CsiNode::Driver>& drivers) {
  std::map<Driver, std::int64_t> limits;
  std::set<Driver> names;
  for (const k8s::CsiNode::Driver& driver : drivers) {
    names.insert(driver.name);
    if (driver.allocatable_count) limits[driver.name] = *driver.allocatable_count;
  }
  room_->limit(node, limits);
  for (auto& [driver, required] : required_) {
    if (names.contains(driver)) {
      required.nodes.insert(node);
    } else {
      required.nodes.erase(node);
    }
  }
  if (names.empty()) {
    drivers_.erase(node);
  } else {
    drivers_[node] = std::move(names);
  }
}

void VolumeUsers::put(const k8s::CsiDriver& driver) {
  const Driver& name = driver.metadata.name;
  required_.erase(name);
  if (!driver.prevents_if_missing) return;
  Required& required = required_[name];
  required.reason = name + " CSI driver is not installed on the node";
  for (const auto& [node, drivers] : drivers_) {
    if (drivers.contains(name)) required.nodes.insert(node);
  }
}

const VolumeUsers::Required* VolumeUsers::required(const Driver& driver) const {
  const auto found = required_.find(driver);
  return found == required_.end() ? nullptr : &found->second;
}

void VolumeUsers::name_volume(const ClaimKey& claim, const std::string& before,
                              const std::string& now) {
  if (before == now) return;
  if (const auto named = naming_.find(before); named != naming_.end()) {
    named->second.erase(claim);
    if (named->second.empty()) naming_.erase(named);
  }
  if (!now.empty()) naming_[now].insert(claim);
}

std::set<Attached> VolumeUsers::volumes_of(const k8s::Pod& pod) const {
  return volumes_of(claims_of(pod), disks_of(pod));
}

const VolumeUsers::Changes& VolumeUsers::change_in(const PodDifference& trial) const {
  static const Changes kNone;
  // A question about the pods as they are does not end a trial.
  const bool adds = !trial.added().empty();
  const auto add = [this](VolumeRoom::Change& change, const k8s::Pod& pod) {
    for (const Attached& volume : volumes_of(pod)) ++change[volume];
  };
  const Changes& added = adds ? added_.of(trial, add) : kNone;
  if (trial.gone().empty()) return added;
  changes_ = added;
  for (const std::string_view uid : trial.gone()) {
    const auto pod = pods_.find(std::string(uid));
    if (pod == pods_.end()) continue;
    for (const Attached& volume : pod->second.used) --changes_[pod->second.node].kept[volume];
  }
  return changes_;
}

// nullopt: it is not a volume of a CSI driver, or the driver is not known.
std::optional<Attached> VolumeUsers::volume_of(const ClaimKey& key) const {
  const auto claim = claims_.find(key);
  if (claim == claims_.end()) return std::nullopt;
  const auto volume = volumes_.find(claim->second.volume);
  if (volume != volumes_.end()) {
    if (volume->second.attached.first.empty()) return std::nullopt;
    return volume->second.attached;
  }
  const auto provisioner = provisioners_.find(claim->second.storage_class);
  if (provisioner == provisioners_.end() || is_uncounted_provisioner(provisioner->second)) {
    return std::nullopt;
  }
  const InTreeKind* kind = in_tree_kind_of_provisioner(provisioner->second);
  // The claim has no volume yet, so its key stands in for the handle. No driver's handle begins
  // with a line end.
  return Attached{kind == nullptr ? provisioner->second : std::string(kind->driver),
                  "\n" + key.first + "/" + key.second};
}

std::set<Attached> VolumeUsers::volumes_of(const std::vector<ClaimKey>& claims,
                                           const std::vector<Attached>& disks) const {
  std::set<Attached> all(disks.begin(), disks.end());
  for (const ClaimKey& claim : claims) {
    if (auto volume = volume_of(claim)) all.insert(*std::move(volume));
  }
  return all;
}

void VolumeUsers::set_used(Pod& pod, std::set<Attached> now) {
  if (pod.used == now) return;
  for (const Attached& volume : now) room_->add(pod.node, volume, VolumeRoom::By::kPod);
  for (const Attached& volume : pod.used) room_->remove(pod.node, volume, VolumeRoom::By::kPod);
  pod.used = std::move(now);
}

void VolumeUsers::recount_users(const ClaimKey& claim) {
  const auto users = users_.find(claim);
  if (users == users_.end()) return;
  for (const std::string& uid : users->second) recount(pods_.at(uid));
}

void VolumeUsers::recount_users_of(const std::string& volume) {
  if (const auto claims = naming_.find(volume); claims != naming_.end()) {
    for (const ClaimKey& claim : claims->second) recount_users(claim);
  }
  recount_attachments_of(volume);
}

void VolumeUsers::recount_all() {
  for (auto& [uid, pod] : pods_) recount(pod);
}

void VolumeUsers::set_attached(Attachment& attachment, std::optional<Attached> now) {
  if (attachment.attached == now) return;
  constexpr auto kBy = VolumeRoom::By::kAttachment;
  if (now) room_->add(attachment.node, *now, kBy);
  if (attachment.attached) room_->remove(attachment.node, *attachment.attached, kBy);
  attachment.attached = std::move(now);
}

void VolumeUsers::recount(Attachment& attachment) {
  const auto volume = volumes_.find(attachment.volume);
  const bool counts = volume != volumes_.end() && volume->second.is_csi;
  set_attached(attachment, counts ? std::optional(volume->second.attached) : std::nullopt);
}

void VolumeUsers::recount_attachments_of(const std::string& volume) {
  const auto all = attachments_of_.find(volume);
  if (all == attachments_of_.end()) return;
  for (const std::string& name : all->second) recount(attachments_.at(name));
}

void VolumeUsers::forget_pod(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  for (const ClaimKey& claim : pod->second.claims) {
    const auto users = users_.find(claim);
    if (users == users_.end()) continue;  // the pod names it twice
    users->second.erase(uid);
    if (users->second.empty()) users_.erase(users);
  }
  set_used(pod->second, {});
  pods_.erase(pod);
}

void VolumeUsers::forget_attachment(const std::string& name) {
  const auto made = attachments_.find(name);
  if (made == attachments_.end()) return;
  const auto others = attachments_of_.find(made->second.volume);
  others->second.erase(name);
  if (others->second.empty()) attachments_of_.erase(others);
  set_attached(made->second, std::nullopt);
  attachments_.erase(made);
}

}  // namespace plugins
