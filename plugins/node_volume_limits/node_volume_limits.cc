#include "plugins/node_volume_limits/node_volume_limits.h"

#include "plugins/node_volume_limits/volume_room.h"
#include "plugins/support/in_tree_disks.h"
#include "plugins/support/volume_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace plugins {
namespace {

using namespace sched;

constexpr std::string_view kName = "NodeVolumeLimits";
constexpr std::string_view kTooMany = "node(s) exceed max volume count";

// 1 on each node that does not take so many more volumes of a driver.
class Full final : public Counted {
 public:
  Full(std::shared_ptr<const VolumeRoom> room, Driver driver, std::int64_t count)
      : room_(std::move(room)), driver_(std::move(driver)), count_(count) {}
  std::int32_t amount(const PodClass& /*pod*/) const override { return 0; }
  std::int32_t amount_of_node(const NodeFacts& node) const override {
    return room_->takes(node.name, driver_, count_) ? 0 : 1;
  }

 private:
  std::shared_ptr<const VolumeRoom> room_;
  Driver driver_;
  std::int64_t count_;
};

// So many volumes of each driver, all new to every node.
using Wanted = std::map<Driver, std::int64_t>;

// Leaves the nodes that take them all.
class RoomForAll final : public PodRule {
 public:
  RoomForAll(const std::shared_ptr<const VolumeRoom>& room, const Wanted& wanted) {
    for (const auto& [driver, count] : wanted) {
      counts_.push_back({.id = fmt::format("{} {} {}", kName, count, driver),
                         .key = "",
                         .what = std::make_shared<Full>(room, driver, count),
                         .by_node = true});
    }
  }
  const std::vector<DomainCount>& counts() const override { return counts_; }
  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> /*counted*/) const override {
    std::vector<DomainBound> all;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      all.push_back({.count = i, .at_most = 0, .plugin = kName, .reason = kTooMany});
    }
    return all;
  }

 private:
  std::vector<DomainCount> counts_;
};

// A pod of which no pod uses a volume yet, as most, has a rule that it shares with all pods that
// want as many volumes of the same drivers. For one that shares a volume with a pod on some node,
// the nodes are looked at that may be full.
class NodeVolumeLimits final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kName; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  std::vector<Exclusion> excludes(const k8s::Pod& pod) const override {
    const std::set<Attached> volumes = volumes_of(pod);
    if (!is_any_used(volumes)) return {};
    NamedNodes full{.names = {}, .all_others = true};
    for (const auto& [driver, count] : wanted(volumes)) {
      for (const auto& [node, free] : room_->short_of(driver, count)) {
        if (exceeds(*node, driver, volumes, free)) full.names.push_back(*node);
      }
    }
    if (full.names.empty()) return {};
    return {{.plugin = kName, .reason = kTooMany, .allowed = std::move(full)}};
  }

  bool is_ruled(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }
  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod) const override {
    const Wanted wanted = new_volumes_of(pod);
    return wanted.empty() ? nullptr : std::make_unique<RoomForAll>(room_, wanted);
  }
  std::string reads_besides(const k8s::Pod& pod) const override {
    std::string all;
    if (pod.spec.volumes.empty()) return all;
    for (const auto& [driver, count] : new_volumes_of(pod)) {
      all += fmt::format("{} {}\n", count, driver);
    }
    return all;
  }
  std::vector<std::string> take_recounted() override { return room_->take_changed(); }

  ChangeMask reads() const override {
    return kStorageChanged | kBoundPodChanged | kBoundPodRemoved;
  }
  bool apply(const ClusterChange& change) override {
    std::visit(*this, change);
    return true;
  }

  void operator()(const VolumeClaimUpserted& change) {
    const k8s::PersistentVolumeClaim& claim = change.object;
    claims_[key_of(claim.metadata)] = {claim.volume_name, claim.storage_class};
    recount_users(key_of(claim.metadata));
  }
  void operator()(const VolumeClaimGone& change) {
    claims_.erase({change.namespace_, change.name});
    recount_users({change.namespace_, change.name});
  }
  void operator()(const VolumeUpserted& change) {
    const k8s::PersistentVolume& volume = change.object;
    Volume& known = volumes_[volume.metadata.name];
    Volume now{.attached = attached_as(volume), .is_csi = !volume.csi_driver.empty(), .claim = {}};
    if (volume.claim_ref) now.claim = {volume.claim_ref->namespace_, volume.claim_ref->name};
    const ClaimKey before = std::exchange(known, std::move(now)).claim;
    recount_users(before);
    if (before != known.claim) recount_users(known.claim);
    recount_attachments_of(volume.metadata.name);
  }
  void operator()(const VolumeGone& change) {
    const auto volume = volumes_.find(change.name);
    if (volume == volumes_.end()) return;
    const ClaimKey claim = volume->second.claim;
    volumes_.erase(volume);
    recount_users(claim);
    recount_attachments_of(change.name);
  }
  void operator()(const StorageClassUpserted& change) {
    provisioners_[change.object.metadata.name] = change.object.provisioner;
    recount_all();
  }
  void operator()(const StorageClassGone& change) {
    provisioners_.erase(change.name);
    recount_all();
  }
  void operator()(const CsiNodeUpserted& change) {
    std::map<Driver, std::int64_t> limits;
    for (const k8s::CsiNode::Driver& driver : change.object.drivers) {
      if (driver.allocatable_count) limits[driver.name] = *driver.allocatable_count;
    }
    room_->limit(change.object.metadata.name, limits);
  }
  void operator()(const CsiNodeGone& change) { room_->limit(change.name, {}); }
  void operator()(const VolumeAttachmentUpserted& change) {
    const k8s::VolumeAttachment& made = change.object;
    operator()(VolumeAttachmentGone{.name = made.metadata.name, .namespace_ = {}});
    if (made.volume.empty()) return;
    Attachment& attachment = attachments_[made.metadata.name];
    attachment = {.node = made.node, .volume = made.volume, .attached = {}};
    attachments_of_[made.volume].insert(made.metadata.name);
    recount(attachment);
  }
  void operator()(const VolumeAttachmentGone& change) {
    const auto made = attachments_.find(change.name);
    if (made == attachments_.end()) return;
    const auto others = attachments_of_.find(made->second.volume);
    others->second.erase(change.name);
    if (others->second.empty()) attachments_of_.erase(others);
    set_attached(made->second, std::nullopt);
    attachments_.erase(made);
  }
  void operator()(const BoundPodUpserted& change) {
    const k8s::Pod& pod = change.pod;
    if (pod.spec.volumes.empty()) return;
    operator()(BoundPodGone{pod.metadata.uid});
    std::vector<ClaimKey> claims = claims_of(pod);
    std::vector<Attached> disks = disks_of(pod);
    if (claims.empty() && disks.empty()) return;
    for (const ClaimKey& claim : claims) users_[claim].insert(pod.metadata.uid);
    Pod& known = pods_[pod.metadata.uid];
    known = {pod.spec.node_name, std::move(claims), std::move(disks), {}};
    recount(known);
  }
  void operator()(const BoundPodGone& change) {
    const auto pod = pods_.find(change.uid);
    if (pod == pods_.end()) return;
    for (const ClaimKey& claim : pod->second.claims) {
      const auto users = users_.find(claim);
      if (users == users_.end()) continue;  // the pod names it twice
      users->second.erase(change.uid);
      if (users->second.empty()) users_.erase(users);
    }
    set_used(pod->second, {});
    pods_.erase(pod);
  }
  template <typename Other>
  void operator()(const Other& /*change*/) {}

 private:
  struct Claim {
    std::string volume;
    std::string storage_class;
  };
  struct Volume {
    Attached attached;  // the driver is empty: of no CSI driver
    bool is_csi = false;
    ClaimKey claim;
  };
  struct Pod {
    std::string node;
    std::vector<ClaimKey> claims;
    std::vector<Attached> disks;  // in-line
    std::set<Attached> used;      // in room_, by this pod
  };
  struct Attachment {
    std::string node;
    std::string volume;
    std::optional<Attached> attached;  // in room_, by this
  };

  static Attached attached_as(const k8s::PersistentVolume& volume) {
    if (!volume.in_tree_disk) return {volume.csi_driver, volume.csi_volume_handle};
    const InTreeKind* kind = in_tree_kind(volume.in_tree_disk->source);
    auto handle = handle_of(volume);
    if (kind == nullptr || !handle) return {};
    return {std::string(kind->driver), *std::move(handle)};
  }

  static std::vector<Attached> disks_of(const k8s::Pod& pod) {
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

  // nullopt: it is none of a CSI driver, or nobody knows of which.
  std::optional<Attached> volume_of(const ClaimKey& key) const {
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
    // No handle of a driver begins so; it is told apart from those of other claims alone.
    return Attached{kind == nullptr ? provisioner->second : std::string(kind->driver),
                    "\n" + key.first + "/" + key.second};
  }

  std::set<Attached> volumes_of(const std::vector<ClaimKey>& claims,
                                const std::vector<Attached>& disks) const {
    std::set<Attached> all(disks.begin(), disks.end());
    for (const ClaimKey& claim : claims) {
      if (auto volume = volume_of(claim)) all.insert(*std::move(volume));
    }
    return all;
  }
  std::set<Attached> volumes_of(const k8s::Pod& pod) const {
    return volumes_of(claims_of(pod), disks_of(pod));
  }
  static Wanted wanted(const std::set<Attached>& volumes) {
    Wanted all;
    for (const Attached& volume : volumes) ++all[volume.first];
    return all;
  }
  bool is_any_used(const std::set<Attached>& volumes) const {
    return std::any_of(volumes.begin(), volumes.end(),
                       [&](const Attached& volume) { return room_->is_used(volume); });
  }
  // What the shared rule is about; none where a volume is in use.
  Wanted new_volumes_of(const k8s::Pod& pod) const {
    const std::set<Attached> volumes = volumes_of(pod);
    return is_any_used(volumes) ? Wanted{} : wanted(volumes);
  }

  // Volumes that pods there use already need no more room.
  bool exceeds(const std::string& node, const Driver& driver, const std::set<Attached>& volumes,
               std::int64_t free) const {
    std::int64_t more = 0;
    for (auto volume = volumes.lower_bound({driver, {}});
         volume != volumes.end() && volume->first == driver; ++volume) {
      if (!room_->is_used(node, *volume)) ++more;
    }
    return more > 0 && more > free;
  }

  void set_used(Pod& pod, std::set<Attached> now) {
    if (pod.used == now) return;
    for (const Attached& volume : now) room_->add(pod.node, volume, VolumeRoom::By::kPod);
    for (const Attached& volume : pod.used) room_->remove(pod.node, volume, VolumeRoom::By::kPod);
    pod.used = std::move(now);
  }
  void recount(Pod& pod) { set_used(pod, volumes_of(pod.claims, pod.disks)); }
  void recount_users(const ClaimKey& claim) {
    const auto users = users_.find(claim);
    if (users == users_.end()) return;
    for (const std::string& uid : users->second) recount(pods_.at(uid));
  }
  void recount_all() {
    for (auto& [uid, pod] : pods_) recount(pod);
  }

  void set_attached(Attachment& attachment, std::optional<Attached> now) {
    if (attachment.attached == now) return;
    constexpr auto kBy = VolumeRoom::By::kAttachment;
    if (now) room_->add(attachment.node, *now, kBy);
    if (attachment.attached) room_->remove(attachment.node, *attachment.attached, kBy);
    attachment.attached = std::move(now);
  }
  void recount(Attachment& attachment) {
    const auto volume = volumes_.find(attachment.volume);
    const bool counts = volume != volumes_.end() && volume->second.is_csi;
    set_attached(attachment, counts ? std::optional(volume->second.attached) : std::nullopt);
  }
  void recount_attachments_of(const std::string& volume) {
    const auto all = attachments_of_.find(volume);
    if (all == attachments_of_.end()) return;
    for (const std::string& name : all->second) recount(attachments_.at(name));
  }

  ByClaim<Claim> claims_;
  std::unordered_map<std::string, Volume> volumes_;
  std::map<std::string, std::string> provisioners_;  // by class
  std::unordered_map<std::string, Attachment> attachments_;
  std::unordered_map<std::string, std::set<std::string>> attachments_of_;  // by volume
  std::unordered_map<std::string, Pod> pods_;                              // on nodes, with claims
  ByClaim<std::set<std::string>> users_;
  std::shared_ptr<VolumeRoom> room_ = std::make_shared<VolumeRoom>();
};

}  // namespace

PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& /*args*/) {
  PluginInstance instance;
  instance.constraint = std::make_unique<NodeVolumeLimits>();
  return instance;
}

}  // namespace plugins
