// VolumeRestrictions: a claim of access mode ReadWriteOncePod is for one pod at a time, and an
// in-line disk for one node or one pod at a time (disks_in_use.h).
//
// While a pod on a node has such a claim, no other pod that needs it is placed; and a pod waits for
// missing claims. The claims of ephemeral volumes do not count. Without arguments.
//
// Source: kube-scheduler, plugins/volumerestrictions.
#include "plugins/factories.h"
#include "plugins/support/volume_claims.h"
#include "plugins/volume_restrictions/disks_in_use.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace plugins {
namespace {

using namespace sched;

constexpr std::string_view kVolumeRestrictions = "VolumeRestrictions";
constexpr std::string_view kNoDisk = "node(s) had no available disk";
constexpr std::string_view kInUse =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

class VolumeRestrictions final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kVolumeRestrictions; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  std::optional<Refusal> refuses(const k8s::Pod& pod) const override {
    for (const ClaimKey& claim : named_claims_of(pod)) {
      if (!for_one_pod_.contains(claim)) {
        return Refusal{claim_not_found(claim.second), {awaited(claim)}};
      }
    }
    return std::nullopt;
  }

  std::vector<Exclusion> excludes(const k8s::Pod& pod, const PodDifference& trial) const override {
    std::vector<Exclusion> all;
    NamedNodes taken{.names = disks_.conflicts(pod, trial), .all_others = true};
    if (!taken.names.empty()) {
      all.push_back(
          {.plugin = kVolumeRestrictions, .reason = kNoDisk, .allowed = std::move(taken)});
    }
    if (uses_claim_of_another(pod, trial)) {
      all.push_back({.plugin = kVolumeRestrictions, .reason = kInUse, .allowed = NamedNodes{}});
    }
    return all;
  }

  std::string excludes_by(const k8s::Pod& pod) const override { return volumes_key(pod); }

  ChangeMask reads() const override {
    return kStorageChanged | kBoundPodChanged | kBoundPodRemoved;
  }
  bool apply(const ClusterChange& change) override {
    if (const auto* claim = std::get_if<VolumeClaimUpserted>(&change)) {
      const auto& modes = claim->object.access_modes;
      const bool now = std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
      const auto [known, is_new] = for_one_pod_.try_emplace(key_of(claim->object.metadata), now);
      return std::exchange(known->second, now) != now || is_new;
    } else if (const auto* claim_gone = std::get_if<VolumeClaimGone>(&change)) {
      for_one_pod_.erase({claim_gone->namespace_, claim_gone->name});
    } else if (const auto* bound = std::get_if<BoundPodUpserted>(&change)) {
      if (bound->pod.spec.volumes.empty()) return false;
      uses(bound->pod);
      disks_.add(bound->pod);
    } else if (const auto* gone = std::get_if<BoundPodGone>(&change)) {
      forget(gone->uid);
      disks_.remove(gone->uid);
    }
    return true;
  }

 private:
  bool uses_claim_of_another(const k8s::Pod& pod, const PodDifference& trial) const {
    for (const ClaimKey& key : named_claims_of(pod)) {
      const auto claim = for_one_pod_.find(key);
      if (claim == for_one_pod_.end() || !claim->second) continue;
      if (used_by_another(key, pod, trial)) return true;
    }
    return false;
  }
  bool used_by_another(const ClaimKey& claim, const k8s::Pod& pod,
                       const PodDifference& trial) const {
    const auto users = users_.find(claim);
    if (users != users_.end() &&
        std::any_of(users->second.begin(), users->second.end(), [&](const std::string& uid) {
          return uid != pod.metadata.uid && !trial.is_gone(uid);
        })) {
      return true;
    }
    return std::any_of(trial.added().begin(), trial.added().end(),
                       [&](const PodDifference::Added& added) {
                         const auto claims = named_claims_of(*added.pod);
                         return std::find(claims.begin(), claims.end(), claim) != claims.end();
                       });
  }
  void uses(const k8s::Pod& pod) {
    forget(pod.metadata.uid);
    std::vector<ClaimKey> claims = named_claims_of(pod);
    for (const ClaimKey& claim : claims) users_[claim].insert(pod.metadata.uid);
    if (!claims.empty()) of_pod_[pod.metadata.uid] = std::move(claims);
  }
  void forget(const std::string& uid) {
    const auto pod = of_pod_.find(uid);
    if (pod == of_pod_.end()) return;
    for (const ClaimKey& claim : pod->second) {
      const auto users = users_.find(claim);
      if (users == users_.end()) continue;  // the pod names it twice
      users->second.erase(uid);
      if (users->second.empty()) users_.erase(users);
    }
    of_pod_.erase(pod);
  }

  DisksInUse disks_;
  ByClaim<bool> for_one_pod_;  // all claims
  // The pods on nodes that have claims, by uid.
  ByClaim<std::set<std::string>> users_;
  std::unordered_map<std::string, std::vector<ClaimKey>> of_pod_;
};

}  // namespace

PluginInstance make_volume_restrictions(k8s::yaml::ObjectReader& /*args*/) {
  return {.constraint = std::make_unique<VolumeRestrictions>()};
}

}  // namespace plugins
