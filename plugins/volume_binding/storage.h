// Claims, volumes, classes and capacities from the watches, with the writes that plans count on
// applied as if they were done.
#pragma once

#include "k8s-client/api/storage.h"
#include "plugins/support/in_tree_disks.h"
#include "plugins/support/volume_claims.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/framework/node_view.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace plugins {

class Storage {
 public:
  using VolumeClaim = k8s::PersistentVolumeClaim;
  using Volume = k8s::PersistentVolume;

  // False: none of the answers has changed.
  bool apply(const sched::ClusterChange& change);

  // Null: there is none of that name.
  [[nodiscard]] const VolumeClaim* claim(const ClaimKey& key) const;
  [[nodiscard]] const Volume* volume(const std::string& name) const;
  [[nodiscard]] const k8s::StorageClass* storage_class(const std::string& name) const;

  // Whether the node affinity of an existing volume allows its use there.
  [[nodiscard]] bool is_usable_on(const Volume& volume, const sched::NodeFacts& node) const;
  // Whether that follows from Volume::node_affinity alone: not for disks that a CSI driver has
  // taken over on some nodes (in_tree_disks.h).
  [[nodiscard]] bool is_usable_by_affinity(const Volume& volume) const;

  // Whether the claim waits until its pod's node is chosen. A pod is not placed while it needs
  // another unbound claim.
  [[nodiscard]] bool waits_for_pod(const VolumeClaim& claim) const;
  // The node that was selected for it, or is assumed to be; empty: none.
  [[nodiscard]] std::string selected_node(const VolumeClaim& claim) const;
  // The volume that is reserved for the claim, or assumed to be; null: none.
  [[nodiscard]] const Volume* reserved(const VolumeClaim& claim) const;
  // The write that a plan counts on; null: none.
  [[nodiscard]] const sched::SelectNode* assumed_selection(const ClaimKey& claim) const;
  [[nodiscard]] const sched::ReserveVolume* assumed_reservation(const std::string& volume) const;

  // The free volumes of a class, the smaller ones first.
  struct BySize {
    bool operator()(const Volume* a, const Volume* b) const {
      return std::tuple(a->capacity_bytes.value_or(0), std::string_view(a->metadata.name)) <
             std::tuple(b->capacity_bytes.value_or(0), std::string_view(b->metadata.name));
    }
  };
  using Volumes = std::set<const Volume*, BySize>;
  struct Pool {
    Volumes others;
    // Volumes that only nodes with one value of the label kubernetes.io/hostname can use, by value.
    std::map<std::string, Volumes> of_host;
  };
  // Null: there are none.
  [[nodiscard]] const Pool* free_volumes(const std::string& storage_class) const;

  // Where there is room for a volume of that size: the nodes that match one of the selectors.
  // nullopt: not reported, or it does not matter. O(capacities of the class): a driver with disks
  // in the nodes reports one for each.
  [[nodiscard]] std::optional<std::vector<const k8s::LabelSelector*>> room_for(
      const k8s::StorageClass& of, const VolumeClaim& claim) const;

 private:
  bool put(const VolumeClaim& claim);
  void put(const Volume& volume);
  void put(const k8s::CsiNode& node);
  void take_out(const std::string& name);
  void take_out_capacity(const ClaimKey& key);
  // Puts the volume into the pool of its class if it belongs there: this depends on the volume and
  // on what is assumed of it.
  void file(const Volume& volume);
  void unfile(const Volume& volume);
  void assume(const sched::ObjectWrite& write, bool done);

  ByClaim<VolumeClaim> claims_;
  std::unordered_map<std::string, std::unique_ptr<Volume>> volumes_;
  // A volume of a kind that CSI drivers take over.
  struct InTree {
    const InTreeKind* kind = nullptr;
    std::optional<k8s::NodeSelector> by_driver;  // node_affinity_by_driver()
  };
  std::unordered_map<std::string, InTree> in_tree_;                // by volume
  std::map<std::string, std::set<const InTreeKind*>> taken_over_;  // by node
  std::map<std::string, k8s::StorageClass> classes_;
  std::map<std::string, bool> drivers_;  // whether a CSI driver reports where it has room
  // By class, then by namespace and name.
  std::map<std::string, std::map<ClaimKey, k8s::CsiStorageCapacity>> capacities_;
  ByClaim<std::set<std::string>> reserved_;  // volumes, by the claim that they name
  std::map<std::string, Pool> pools_;        // by class
  ByClaim<sched::SelectNode> selections_;
  std::map<std::string, sched::ReserveVolume> reservations_;  // by volume
  ByClaim<std::set<std::string>> reserving_;                  // volumes of reservations_
};

// Whether the volume names the claim that it is for.
[[nodiscard]] bool is_reserved_for(const k8s::PersistentVolume& volume,
                                   const k8s::PersistentVolumeClaim& claim);

}  // namespace plugins
