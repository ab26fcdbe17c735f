// VolumeBinding: a pod goes where its volumes can be used, and its claims that wait for it are
// bound.
//
// Excluded are nodes that the node affinity of a bound volume does not allow, and nodes on which a
// claim of a class that waits for its first consumer would find no volume and could not have one
// provisioned (matching.h). Before the pod is bound to its chosen node, that node is written to
// each such claim, or the volume that the claim takes is reserved for it. Then the bind waits until
// the volume controller and the provisioners have bound all claims. If a provisioner gives the node
// up, or it takes too long, the pod is tried again; a node that is given up twice is left out for a
// while. A pod is refused while a claim of it is missing, lost, being deleted, or must be bound
// before its pod is placed ("Immediate").
//
//   bindTimeoutSeconds   how long a bind waits for its volumes; 600
//
// Source: kube-scheduler, plugins/volumebinding.
#include "plugins/factories.h"
#include "plugins/support/added_pods.h"
#include "plugins/support/args.h"
#include "plugins/volume_binding/matching.h"
#include "plugins/volume_binding/storage.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace plugins {
namespace {

using namespace sched;
using VolumeClaim = Storage::VolumeClaim;
using Volume = Storage::Volume;
using Result = Matching::OnNode::Result;

constexpr std::string_view kVolumeBinding = "VolumeBinding";
constexpr std::string_view kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
constexpr std::string_view kNoVolume = "node(s) didn't find available persistent volumes to bind";
constexpr std::string_view kNoRoom = "node(s) did not have enough free storage";
constexpr std::string_view kVolumeMissing =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr const char* kUnbound = "pod has unbound immediate PersistentVolumeClaims";

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::string of_claim(const VolumeClaim& claim) {
  return "persistentvolumeclaim " + in_quotes(claim.metadata.name);
}

bool is_controlled_by(const VolumeClaim& claim, const k8s::Pod& pod) {
  const k8s::OwnerReference* controller = k8s::controller_of(claim.metadata);
  return controller != nullptr && controller->uid == pod.metadata.uid;
}

SeenObject seen(const k8s::ObjectMeta& object) {
  return {object.namespace_, object.name, object.uid, object.resource_version};
}

Readiness waits(std::string for_what) { return {Readiness::State::kWaits, std::move(for_what)}; }
Readiness failed(std::string why) { return {Readiness::State::kFailed, std::move(why)}; }

// The claims of pods that a trial adds to one node. They take their volumes one after the other, as
// they will when the pods get the node.
class ClaimsOnNode {
 public:
  // `takers`: those that may take a volume that is there.
  void add(const std::vector<const VolumeClaim*>& of_pod, Matching takers) {
    all_.insert(of_pod.begin(), of_pod.end());
    pods_.push_back(std::move(takers));
  }
  [[nodiscard]] bool has(const VolumeClaim* claim) const { return all_.contains(claim); }
  // What they take. All questions are about one node, whose labels may have changed.
  [[nodiscard]] const Matching::Taken& taken(const NodeFacts& node) {
    if (labels_ != node.labels) {
      labels_ = node.labels;
      taken_ = {};
      counted_ = 0;
    }
    for (; counted_ < pods_.size(); ++counted_) taken_.add(pods_[counted_].on(node, taken_));
    return taken_;
  }

 private:
  std::unordered_set<const VolumeClaim*> all_;
  std::vector<Matching> pods_;
  // What the first `counted_` take on a node with these labels.
  Matching::Taken taken_;
  std::size_t counted_ = 0;
  k8s::StringMap labels_;
};

class VolumeBinding final : public ClusterConstraint {
 public:
  explicit VolumeBinding(std::chrono::seconds patience) : patience_(patience) {}
  std::string_view name() const override { return kVolumeBinding; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  std::optional<Refusal> refuses(const k8s::Pod& pod) const override {
    for (const k8s::Volume& volume : pod.spec.volumes) {
      const auto claim = claim_of(pod, volume);
      if (!claim) continue;
      if (auto reason = reason_against(*claim, pod, volume)) {
        return Refusal{*std::move(reason), {awaited(*claim)}};
      }
    }
    for (const ClaimKey& key : claims_of(pod)) {
      const VolumeClaim& claim = *storage_.claim(key);
      if (is_bound(claim) || storage_.waits_for_pod(claim)) continue;
      Refusal unbound{kUnbound, {awaited(key)}};
      if (!claim.storage_class.empty()) {
        unbound.awaits.push_back(object_key<k8s::StorageClass>(claim.storage_class));
      }
      return unbound;
    }
    return std::nullopt;
  }

  std::vector<Exclusion> excludes(const k8s::Pod& pod, const PodDifference& trial) const override {
    std::vector<Exclusion> all;
    const auto exclude = [&](std::string_view reason, bool also_told, auto allowed,
                             std::size_t cost = 1) {
      all.push_back({.plugin = kVolumeBinding,
                     .reason = reason,
                     .code = Code::kUnresolvable,
                     .allowed = std::move(allowed),
                     .also_told = also_told,
                     .cost = cost});
    };
    // As kube-scheduler does, the claims are looked at in their order, on each node up to the first
    // that it cannot have.
    std::vector<const Volume*> before_missing;
    bool some_missing = false;
    for (const ClaimKey& key : claims_of(pod)) {
      const VolumeClaim* claim = storage_.claim(key);
      if (claim == nullptr || !is_bound(*claim)) continue;
      const Volume* volume = storage_.volume(claim->volume_name);
      if (volume == nullptr) {
        some_missing = true;
        break;
      }
      before_missing.push_back(volume);
      if (!storage_.is_usable_by_affinity(*volume)) {
        exclude(kNotItsNode, false, [this, volume](const NodeFacts& node) {
          return storage_.is_usable_on(*volume, node);
        });
      } else if (volume->node_affinity) {
        exclude(kNotItsNode, false, &*volume->node_affinity);
      }
    }
    const std::vector<const VolumeClaim*> waiting = waiting_claims(pod);
    exclude_by_matching(waiting, exclude);
    exclude_beside_others(waiting, trial, exclude);
    if (!some_missing) return all;
    if (all.empty()) {
      exclude(kVolumeMissing, true, NamedNodes{});
    } else {
      exclude(kVolumeMissing, true, [this, before_missing](const NodeFacts& node) {
        return std::any_of(before_missing.begin(), before_missing.end(), [&](const Volume* volume) {
          return !storage_.is_usable_on(*volume, node);
        });
      });
    }
    return all;
  }

  std::string excludes_by(const k8s::Pod& pod) const override { return volumes_key(pod); }

  std::optional<Preparation> preparation_for(const k8s::Pod& pod,
                                             const NodeFacts& node) const override {
    const std::vector<const VolumeClaim*> waiting = waiting_claims(pod);
    if (waiting.empty()) return std::nullopt;
    const Matching::OnNode chosen = Matching(storage_, waiting).on(node);
    Preparation wanted{.writes = {}, .patience = patience_};
    for (const ClaimKey& key : claims_of(pod)) wanted.awaits.push_back(awaited(key));
    for (const auto& [claim, volume] : chosen.bound) {
      wanted.awaits.push_back(object_key<k8s::PersistentVolume>(volume->metadata.name));
      const bool is_reserved = volume->claim_ref && volume->claim_ref->uid == claim->metadata.uid;
      // The write may have been done already for another pod with that claim.
      if (is_reserved || storage_.assumed_reservation(volume->metadata.name) != nullptr) continue;
      wanted.writes.push_back(ReserveVolume{.volume = seen(volume->metadata),
                                            .claim = seen(claim->metadata),
                                            .named_claim = volume->claim_ref.has_value()});
    }
    for (const VolumeClaim* claim : chosen.provisioned) {
      if (storage_.selected_node(*claim) == node.name) continue;
      wanted.writes.push_back(SelectNode{.claim = seen(claim->metadata), .node = node.name});
    }
    return wanted;
  }

  Readiness readiness(const k8s::Pod& pod, const NodeFacts& node) const override {
    Readiness all;
    for (const ClaimKey& key : claims_of(pod)) {
      Readiness one = readiness_of(key, node);
      if (one.state == Readiness::State::kFailed) return one;
      if (all.state == Readiness::State::kReady) all = std::move(one);
    }
    return all;
  }

  ChangeMask reads() const override { return kStorageChanged | kPlanChanged; }
  bool apply(const ClusterChange& change) override {
    added_.forget();
    return storage_.apply(change);
  }

 private:
  // Why the pod cannot have the claim of that volume on any node.
  std::optional<std::string> reason_against(const ClaimKey& key, const k8s::Pod& pod,
                                            const k8s::Volume& volume) const {
    const bool ephemeral = volume.kind == k8s::Volume::Kind::kEphemeral;
    const VolumeClaim* claim = storage_.claim(key);
    if (claim == nullptr) {
      if (!ephemeral) return claim_not_found(key.second);
      return "waiting for ephemeral volume controller to create the persistentvolumeclaim " +
             in_quotes(key.second);
    }
    if (claim->phase == "Lost") {
      return of_claim(*claim) + " bound to non-existent persistentvolume " +
             in_quotes(claim->volume_name);
    }
    if (claim->metadata.deletion_timestamp) return of_claim(*claim) + " is being deleted";
    // The claim of an ephemeral volume is made for its pod. A claim that happens to have its name
    // (for example of an earlier pod with the same name) belongs to another pod: kubelet would
    // refuse the pod for ever.
    if (ephemeral && !is_controlled_by(*claim, pod)) {
      return "PVC " + key.first + "/" + key.second + " was not created for pod " + key.first + "/" +
             pod.metadata.name + " (pod is not owner)";
    }
    return std::nullopt;
  }

  // The waiting claims; refuses() has passed the others.
  std::vector<const VolumeClaim*> waiting_claims(const k8s::Pod& pod) const {
    std::vector<const VolumeClaim*> all;
    for (const ClaimKey& key : claims_of(pod)) {
      const VolumeClaim* claim = storage_.claim(key);
      if (claim == nullptr || is_bound(*claim) || !storage_.waits_for_pod(*claim)) continue;
      // A pod may mount a claim twice.
      if (std::find(all.begin(), all.end(), claim) == all.end()) all.push_back(claim);
    }
    return all;
  }

  template <typename Exclude>
  void exclude_by_matching(const std::vector<const VolumeClaim*>& waiting,
                           const Exclude& exclude) const {
    if (waiting.empty()) return;
    const auto matching = std::make_shared<Matching>(storage_, waiting);
    Matching::Left left = matching->left();
    const auto* named = std::get_if<NamedNodes>(&left.nodes);
    if (named == nullptr || !named->all_others) {
      std::visit([&](auto& nodes) { exclude(kNoVolume, true, std::move(nodes)); }, left.nodes);
    }
    if (left.exact) return;
    const auto is_not = [&](Result result) {
      return
          [matching, result](const NodeFacts& node) { return matching->on(node).result != result; };
    };
    const std::size_t cost = matching->cost();
    exclude(kNoVolume, true, is_not(Result::kNoVolume), cost);
    if (matching->looks_for_room()) exclude(kNoRoom, true, is_not(Result::kNoRoom), cost);
  }

  // In a trial, the claims of a pod that is added to a node take their volumes there, too, and the
  // others get theirs for that node.
  template <typename Exclude>
  void exclude_beside_others(const std::vector<const VolumeClaim*>& waiting,
                             const PodDifference& trial, const Exclude& exclude) const {
    if (waiting.empty() || trial.added().empty()) return;
    const auto& others = added_.of(trial, [&](auto& claims, const k8s::Pod& pod) {
      if (!claims) claims = std::make_shared<ClaimsOnNode>();
      const std::vector<const VolumeClaim*> of_pod = waiting_claims(pod);
      claims->add(of_pod, Matching(storage_, takers(of_pod)));
    });
    if (others.empty()) return;
    for (const VolumeClaim* claim : waiting) {
      if (may_take(*claim) || storage_.reserved(*claim) != nullptr) continue;
      for (const auto& [node, there] : others) {
        if (there.kept->has(claim)) exclude(kNoVolume, true, NamedNodes{.names = {node}});
      }
    }
    const std::vector<const VolumeClaim*> own = takers(waiting);
    if (own.empty()) return;
    exclude(
        kNoVolume, true,
        [&others, matching = std::make_shared<Matching>(storage_, own)](const NodeFacts& node) {
          const auto there = others.find(node.name);
          return there == others.end() ||
                 matching->on(node, there->second.kept->taken(node)).result != Result::kNoVolume;
        },
        own.size());
  }
  // Whether it may take a volume that is there.
  bool may_take(const VolumeClaim& claim) const {
    return storage_.free_volumes(claim.storage_class) != nullptr;
  }
  std::vector<const VolumeClaim*> takers(std::vector<const VolumeClaim*> waiting) const {
    std::erase_if(waiting, [this](const VolumeClaim* claim) { return !may_take(*claim); });
    return waiting;
  }

  Readiness readiness_of(const ClaimKey& key, const NodeFacts& node) const {
    const VolumeClaim* claim = storage_.claim(key);
    if (claim == nullptr) return failed(claim_not_found(key.second));
    if (is_bound(*claim)) {
      const Volume* volume = storage_.volume(claim->volume_name);
      if (volume == nullptr) {
        return waits("volume " + in_quotes(claim->volume_name) + " of " + of_claim(*claim) +
                     " is not to be seen yet");
      }
      if (!storage_.is_usable_on(*volume, node)) {
        return failed("volume " + in_quotes(claim->volume_name) + " of " + of_claim(*claim) +
                      " can not be used there");
      }
      return {};
    }
    if (const Volume* volume = storage_.reserved(*claim)) {
      const ReserveVolume* write = storage_.assumed_reservation(volume->metadata.name);
      // Written, but not shown by the watch yet.
      const bool is_old =
          write != nullptr && write->volume.resource_version == volume->metadata.resource_version;
      if (!is_old && !is_reserved_for(*volume, *claim)) {
        return failed("volume " + in_quotes(volume->metadata.name) + " is not reserved for " +
                      of_claim(*claim) + " any more");
      }
      return waits(of_claim(*claim) + " is not bound to volume " +
                   in_quotes(volume->metadata.name) + " yet");
    }
    return provisioned(key, *claim, node);
  }

  Readiness provisioned(const ClaimKey& key, const VolumeClaim& claim,
                        const NodeFacts& node) const {
    const SelectNode* write = storage_.assumed_selection(key);
    const bool is_old =
        write != nullptr && write->claim.resource_version == claim.metadata.resource_version;
    const std::string* noted =
        claim.metadata.annotations.find("volume.kubernetes.io/selected-node");
    if (!is_old && (noted == nullptr || *noted != node.name)) {
      Readiness gave_up = failed("provisioning failed for PVC " + in_quotes(claim.metadata.name));
      gave_up.avoids_node = noted == nullptr;
      return gave_up;
    }
    const k8s::StorageClass* of = storage_.storage_class(claim.storage_class);
    return waits(of_claim(claim) + " has no volume yet from provisioner " +
                 (of == nullptr ? "(none)" : of->provisioner));
  }

  std::chrono::seconds patience_;
  Storage storage_;
  // Of the last trial: whoever asks about it rules out nodes before the next question.
  mutable AddedPods<std::shared_ptr<ClaimsOnNode>> added_;
};

}  // namespace

PluginInstance make_volume_binding(k8s::yaml::ObjectReader& args) {
  read_type(args, "VolumeBindingArgs");
  const std::int64_t seconds =
      args.integer("bindTimeoutSeconds", {.min = 0, .max = 24 * 3600}).value_or(600);
  return {.constraint = std::make_unique<VolumeBinding>(std::chrono::seconds(seconds))};
}

}  // namespace plugins
