// Which volumes of CSI drivers a pod uses, and which are in use on which node: by the pods there
// and by VolumeAttachments. Events keep this up to date.
//
// A claim without a volume counts as a volume of its class's driver. An in-tree disk
// (support/in_tree_disks.h), of a claim or in-line, counts as a volume of the CSI driver that
// serves it today.
//
// Source: kube-scheduler, plugins/nodevolumelimits/csi.go, utils.go.
#pragma once

#include "plugins/node_volume_limits/volume_room.h"
#include "plugins/support/added_pods.h"
#include "plugins/support/volume_claims.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/framework/pod_difference.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace plugins {

class VolumeUsers {
 public:
  static constexpr sched::ChangeMask kReads =
      sched::kStorageChanged | sched::kBoundPodChanged | sched::kBoundPodRemoved;
  // False: nothing has changed.
  bool apply(const sched::ClusterChange& change);

  // Those of CSI drivers.
  [[nodiscard]] std::set<Attached> volumes_of(const k8s::Pod& pod) const;
  // By node, how the use of its volumes changes in the trial. Empty: not at all. Valid until the
  // next call.
  using Changes = AddedPods<VolumeRoom::Change>::ByNode;
  [[nodiscard]] const Changes& change_in(const sched::PodDifference& trial) const;

  [[nodiscard]] const std::shared_ptr<VolumeRoom>& room() const { return room_; }

  // A driver that keeps pods with its volumes off nodes without it. Null: the driver does not.
  struct Required {
    std::string reason;           // of such a node, in kube-scheduler's words
    std::set<std::string> nodes;  // with the driver
  };
  [[nodiscard]] const Required* required(const Driver& driver) const;

 private:
  struct VolumeClaim {
    std::string volume;
    std::string storage_class;
    friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
  };
  struct Volume {
    Attached attached;  // the driver is empty: of no CSI driver
    bool is_csi = false;
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
  class Applier;

  bool put(const k8s::PersistentVolumeClaim& claim);
  // The claim, which has named the volume `before`, names `now`. Empty: none.
  void name_volume(const ClaimKey& claim, const std::string& before, const std::string& now);
  [[nodiscard]] std::optional<Attached> volume_of(const ClaimKey& key) const;
  [[nodiscard]] std::set<Attached> volumes_of(const std::vector<ClaimKey>& claims,
                                              const std::vector<Attached>& disks) const;
  void set_used(Pod& pod, std::set<Attached> now);
  void recount(Pod& pod) { set_used(pod, volumes_of(pod.claims, pod.disks)); }
  void recount_users(const ClaimKey& claim);
  // Of the claims that name the volume, whether it is reserved for one of them or not.
  void recount_users_of(const std::string& volume);
  void recount_all();
  void set_attached(Attachment& attachment, std::optional<Attached> now);
  void recount(Attachment& attachment);
  void recount_attachments_of(const std::string& volume);
  void forget_pod(const std::string& uid);
  void forget_attachment(const std::string& name);
  void put(const std::string& node, const std::vector<k8s::CsiNode::Driver>& drivers);
  void put(const k8s::CsiDriver& driver);

  ByClaim<VolumeClaim> claims_;
  // By volume, the claims that name it. A tree, as ByClaim: users choose the names.
  std::map<std::string, std::set<ClaimKey>> naming_;
  std::unordered_map<std::string, Volume> volumes_;
  std::map<std::string, std::string> provisioners_;  // by class
  std::unordered_map<std::string, Attachment> attachments_;
  std::unordered_map<std::string, std::set<std::string>> attachments_of_;  // by volume
  std::unordered_map<std::string, Pod> pods_;                              // on nodes, with volumes
  ByClaim<std::set<std::string>> users_;
  std::map<std::string, std::set<Driver>> drivers_;  // by node
  std::map<Driver, Required> required_;
  std::shared_ptr<VolumeRoom> room_ = std::make_shared<VolumeRoom>();
  // Of the last trial: by the pods that it adds, and by all, if some are gone.
  mutable AddedPods<VolumeRoom::Change> added_;
  mutable Changes changes_;
};

}  // namespace plugins
