#include "plugins/node_volume_limits/node_volume_limits.h"

#include "plugins/support/in_tree_disks.h"
#include "plugins/support/volume_claims.h"

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>

namespace plugins {
namespace {

using namespace sched;

using Driver = std::string;
// One volume as its driver knows it: driver, handle.
using Attached = std::pair<Driver, std::string>;

constexpr std::string_view kName = "NodeVolumeLimits";
constexpr std::string_view kTooMany = "node(s) exceed max volume count";

class NodeVolumeLimits final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kName; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  // Looks at the nodes that may be full for the pod's drivers alone.
  std::vector<Exclusion> excludes(const k8s::Pod& pod) const override {
    std::set<Attached> wanted;
    for (const ClaimKey& claim : claims_of(pod)) {
      if (auto volume = volume_of(claim)) wanted.insert(*std::move(volume));
    }
    for (Attached& disk : disks_of(pod)) wanted.insert(std::move(disk));
    std::map<Driver, std::int64_t> counts;
    for (const Attached& volume : wanted) ++counts[volume.first];
    NamedNodes full{.names = {}, .all_others = true};
    for (const auto& [driver, count] : counts) {
      const auto room = room_.find(driver);
      if (room == room_.end()) continue;
      for (const auto& [free, node] : room->second) {
        if (free >= count) break;
        if (exceeds(node, driver, wanted, free)) full.names.push_back(node);
      }
    }
    if (full.names.empty()) return {};
    return {{.plugin = kName, .reason = kTooMany, .allowed = std::move(full)}};
  }

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
    count_users(key_of(claim.metadata));
  }
  void operator()(const VolumeClaimGone& change) {
    claims_.erase({change.namespace_, change.name});
    count_users({change.namespace_, change.name});
  }
  void operator()(const VolumeUpserted& change) {
    const k8s::PersistentVolume& volume = change.object;
    Volume& known = volumes_[volume.metadata.name];
    Volume now{.attached = attached_as(volume), .is_csi = !volume.csi_driver.empty(), .claim = {}};
    if (volume.claim_ref) now.claim = {volume.claim_ref->namespace_, volume.claim_ref->name};
    const ClaimKey before = std::exchange(known, std::move(now)).claim;
    count_users(before);
    if (before != known.claim) count_users(known.claim);
    count_attachments_of(volume.metadata.name);
  }
  void operator()(const VolumeGone& change) {
    const auto volume = volumes_.find(change.name);
    if (volume == volumes_.end()) return;
    const ClaimKey claim = volume->second.claim;
    volumes_.erase(volume);
    count_users(claim);
    count_attachments_of(change.name);
  }
  void operator()(const StorageClassUpserted& change) {
    provisioners_[change.object.metadata.name] = change.object.provisioner;
    count_all();
  }
  void operator()(const StorageClassGone& change) {
    provisioners_.erase(change.name);
    count_all();
  }
  void operator()(const CsiNodeUpserted& change) {
    Node& node = nodes_[change.object.metadata.name];
    leave_room(change.object.metadata.name, node);
    node.limits.clear();
    for (const k8s::CsiNode::Driver& driver : change.object.drivers) {
      if (driver.allocatable_count) node.limits[driver.name] = *driver.allocatable_count;
    }
    count(change.object.metadata.name);
  }
  void operator()(const CsiNodeGone& change) {
    const auto node = nodes_.find(change.name);
    if (node == nodes_.end()) return;
    leave_room(change.name, node->second);
    node->second.limits.clear();
    forget_if_empty(node);
  }
  void operator()(const VolumeAttachmentUpserted& change) {
    const k8s::VolumeAttachment& made = change.object;
    operator()(VolumeAttachmentGone{.name = made.metadata.name, .namespace_ = {}});
    if (made.volume.empty()) return;
    attachments_[made.metadata.name] = {made.node, made.volume};
    attachments_of_[made.volume].insert(made.metadata.name);
    nodes_[made.node].attachments.insert(made.metadata.name);
    count(made.node);
  }
  void operator()(const VolumeAttachmentGone& change) {
    const auto made = attachments_.find(change.name);
    if (made == attachments_.end()) return;
    const auto node = nodes_.find(made->second.node);
    node->second.attachments.erase(change.name);
    const auto others = attachments_of_.find(made->second.volume);
    others->second.erase(change.name);
    if (others->second.empty()) attachments_of_.erase(others);
    attachments_.erase(made);
    count(node->first);
    forget_if_empty(node);
  }
  void operator()(const BoundPodUpserted& change) {
    const k8s::Pod& pod = change.pod;
    if (pod.spec.volumes.empty()) return;
    operator()(BoundPodGone{pod.metadata.uid});
    std::vector<ClaimKey> claims = claims_of(pod);
    std::vector<Attached> disks = disks_of(pod);
    if (claims.empty() && disks.empty()) return;
    for (const ClaimKey& claim : claims) users_[claim].insert(pod.metadata.uid);
    nodes_[pod.spec.node_name].pods.insert(pod.metadata.uid);
    pods_[pod.metadata.uid] = {pod.spec.node_name, std::move(claims), std::move(disks)};
    count(pod.spec.node_name);
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
    const auto node = nodes_.find(pod->second.node);
    node->second.pods.erase(change.uid);
    pods_.erase(pod);
    count(node->first);
    forget_if_empty(node);
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
  };
  struct Attachment {
    std::string node;
    std::string volume;
  };
  struct Node {
    std::map<Driver, std::int64_t> limits;
    std::set<std::string> pods;
    std::set<std::string> attachments;
    // Worked out where there are limits.
    std::set<Attached> used;              // by its pods
    std::map<Driver, std::int64_t> free;  // of limits
  };
  using Nodes = std::map<std::string, Node>;

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

  // Volumes that pods there use already need no more room.
  bool exceeds(const std::string& name, const Driver& driver, const std::set<Attached>& wanted,
               std::int64_t free) const {
    const Node& node = nodes_.at(name);
    std::int64_t more = 0;
    for (auto volume = wanted.lower_bound({driver, {}});
         volume != wanted.end() && volume->first == driver; ++volume) {
      if (!node.used.contains(*volume)) ++more;
    }
    return more > 0 && more > free;
  }

  void leave_room(const std::string& name, Node& node) {
    for (const auto& [driver, free] : node.free) {
      const auto room = room_.find(driver);
      room->second.erase({free, name});
      if (room->second.empty()) room_.erase(room);
    }
    node.free.clear();
    node.used.clear();
  }

  // Works out anew how many volumes the node can take.
  void count(const std::string& name) {
    Node& node = nodes_.at(name);
    leave_room(name, node);
    if (node.limits.empty()) return;
    for (const std::string& uid : node.pods) {
      const Pod& pod = pods_.at(uid);
      for (const ClaimKey& claim : pod.claims) {
        if (auto volume = volume_of(claim)) node.used.insert(*std::move(volume));
      }
      node.used.insert(pod.disks.begin(), pod.disks.end());
    }
    std::set<Attached> all = node.used;
    for (const std::string& attachment : node.attachments) {
      const auto volume = volumes_.find(attachments_.at(attachment).volume);
      if (volume != volumes_.end() && volume->second.is_csi) all.insert(volume->second.attached);
    }
    node.free = node.limits;
    for (const Attached& volume : all) {
      const auto free = node.free.find(volume.first);
      if (free != node.free.end()) --free->second;
    }
    for (const auto& [driver, free] : node.free) room_[driver].emplace(free, name);
  }
  void count_users(const ClaimKey& claim) {
    const auto users = users_.find(claim);
    if (users == users_.end()) return;
    for (const std::string& uid : users->second) count(pods_.at(uid).node);
  }
  void count_attachments_of(const std::string& volume) {
    const auto all = attachments_of_.find(volume);
    if (all == attachments_of_.end()) return;
    for (const std::string& name : all->second) count(attachments_.at(name).node);
  }
  void count_all() {
    for (const auto& [name, node] : nodes_) count(name);
  }
  void forget_if_empty(Nodes::iterator node) {
    const Node& it = node->second;
    if (it.limits.empty() && it.pods.empty() && it.attachments.empty()) nodes_.erase(node);
  }

  std::map<ClaimKey, Claim> claims_;
  std::map<std::string, Volume> volumes_;
  std::map<std::string, std::string> provisioners_;  // by class
  std::map<std::string, Attachment> attachments_;
  std::map<std::string, std::set<std::string>> attachments_of_;  // by volume
  std::unordered_map<std::string, Pod> pods_;                    // on nodes, with claims
  std::map<ClaimKey, std::set<std::string>> users_;
  Nodes nodes_;
  // The nodes with a limit for a driver, by how many volumes of it they can take still.
  std::map<Driver, std::set<std::pair<std::int64_t, std::string>>> room_;
};

}  // namespace

PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& /*args*/) {
  PluginInstance instance;
  instance.constraint = std::make_unique<NodeVolumeLimits>();
  return instance;
}

}  // namespace plugins
