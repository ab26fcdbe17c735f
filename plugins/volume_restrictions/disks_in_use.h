// The in-line disks that pods on nodes mount, and the nodes on which another pod could not mount
// its own.
//
// Two pods on one node cannot mount one disk of GCE, iSCSI or RBD unless both only read it, and
// never one of EBS. A disk is identified by GCE's pdName, EBS' volumeID, iSCSI's iqn; one of RBD by
// pool, image, and a monitor that both name.
//
// Source: kube-scheduler, plugins/volumerestrictions/volume_restrictions.go (isVolumeConflict).
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/pod_difference.h"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

class DisksInUse {
 public:
  // At most so many monitors of one RBD disk are compared. A disk with more counts as the same as
  // every other with its pool and image.
  static constexpr std::size_t kMostMonitors = 64;

  // The pod is on its node; its previous entry is replaced.
  void add(const k8s::Pod& pod);
  void remove(const std::string& uid);

  // The nodes on which a disk of the pod is taken in the trial, by name, sorted. O(disks of the pod
  // · pods that mount the same, and of pods that are added).
  [[nodiscard]] std::vector<std::string> conflicts(const k8s::Pod& pod,
                                                   const sched::PodDifference& trial) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // source, id, pool
  struct Use {
    std::string node;
    bool read_only = false;
    std::vector<std::string> monitors{};  // sorted; empty: not compared
  };
  [[nodiscard]] static std::vector<std::pair<Key, Use>> uses_of(const k8s::Pod& pod);
  // Whether both cannot be mounted on one node; of the same disk.
  [[nodiscard]] static bool conflict(const Use& a, const Use& b);

  using Users = std::map<Key, std::multimap<std::string, Use>>;  // by uid
  Users users_;
  std::unordered_map<std::string, std::vector<Users::iterator>> of_pod_;  // by uid; each once
};

}  // namespace plugins
