#include "plugins/volume_constraints/volume_constraints.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace plugins {

namespace {

using namespace sched;
using k8s::PersistentVolume;
using k8s::PersistentVolumeClaim;

using Refusal = std::optional<std::string>;

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::string of_claim(const PersistentVolumeClaim& claim) {
  return "persistentvolumeclaim " + quoted(claim.metadata.name);
}

bool has(const std::vector<std::string>& modes, std::string_view mode) {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

bool is_controlled_by(const PersistentVolumeClaim& claim, const k8s::Pod& pod) {
  const auto& owners = claim.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(), [&](const k8s::OwnerReference& owner) {
    return owner.controller && owner.uid == pod.metadata.uid;
  });
}

// The label that ties the volume to a zone or region, or nullptr.
const std::string* zone_label(const PersistentVolume& volume) {
  constexpr std::array<std::string_view, 4> kLabels = {
      "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
      "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};
  for (const std::string_view label : kLabels) {
    if (const std::string* value = volume.metadata.labels.find(label)) return value;
  }
  return nullptr;
}

Refusal refuses_unbound(const PersistentVolumeClaim& claim) {
  // A claim is bound when the volume controller says that it is done. kube-scheduler waits for it
  // where binding is immediate: without a class, or with a volume already chosen.
  const bool bound = !claim.volume_name.empty() &&
                     claim.metadata.annotations.find("pv.kubernetes.io/bind-completed") != nullptr;
  if (bound) return std::nullopt;
  if (claim.storage_class.empty() || !claim.volume_name.empty()) {
    return "pod has unbound immediate PersistentVolumeClaims";
  }
  return "pod has an unbound PersistentVolumeClaim " + quoted(claim.metadata.name) +
         " (storage class " + quoted(claim.storage_class) +
         "), which gpu-scheduler cannot bind yet";
}

Refusal refuses_volume(const PersistentVolumeClaim& claim, const PersistentVolume& volume) {
  const std::string subject =
      of_claim(claim) + " is bound to persistentvolume " + quoted(volume.metadata.name);
  if (volume.node_affinity) {
    return subject +
           ", which only some nodes can use (nodeAffinity); gpu-scheduler cannot honour "
           "that yet";
  }
  if (const std::string* zone = zone_label(volume)) {
    return subject + ", which belongs to " + quoted(*zone) +
           " (zone or region label); gpu-scheduler cannot honour that yet";
  }
  return std::nullopt;
}

class VolumeConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "VolumeConstraints"; }

  Refusal refuses(const k8s::Pod& pod) const override {
    for (const k8s::Volume& volume : pod.spec.volumes) {
      if (auto refusal = refuses_one(pod, volume)) return refusal;
    }
    return std::nullopt;
  }

  ChangeMask wakes_on() const override { return kStorageChanged; }

  bool apply(const ClusterChange& change) override {
    if (const auto* claim = std::get_if<ClaimUpserted>(&change)) {
      const k8s::ObjectMeta& meta = claim->object.metadata;
      claims_[{meta.namespace_, meta.name}] = claim->object;
    } else if (const auto* claim_gone = std::get_if<ClaimGone>(&change)) {
      claims_.erase({claim_gone->namespace_, claim_gone->name});
    } else if (const auto* volume = std::get_if<VolumeUpserted>(&change)) {
      volumes_[volume->object.metadata.name] = volume->object;
    } else if (const auto* volume_gone = std::get_if<VolumeGone>(&change)) {
      volumes_.erase(volume_gone->name);
    } else {
      return false;
    }
    return true;
  }

 private:
  Refusal refuses_one(const k8s::Pod& pod, const k8s::Volume& volume) const {
    switch (volume.kind) {
      case k8s::Volume::Kind::kDisk:
        return "pod mounts the disk " + quoted(volume.name) + " in-line (" + volume.source +
               "), which gpu-scheduler cannot honour yet";
      case k8s::Volume::Kind::kEphemeral:
        return refuses_ephemeral(pod, pod.metadata.name + "-" + volume.name);
      case k8s::Volume::Kind::kPersistentVolumeClaim:
        return refuses_claim(pod.metadata.namespace_, volume.claim_name);
    }
    return std::nullopt;
  }

  // The claim of an ephemeral volume is made for its pod. One that happens to have its name (of a
  // pod that had the same, say) is another's: kubelet would refuse the pod for ever.
  Refusal refuses_ephemeral(const k8s::Pod& pod, const std::string& name) const {
    const auto found = claims_.find({pod.metadata.namespace_, name});
    if (found == claims_.end()) {
      return "waiting for ephemeral volume controller to create the persistentvolumeclaim " +
             quoted(name);
    }
    if (!is_controlled_by(found->second, pod)) {
      const std::string& name_space = pod.metadata.namespace_;
      return "PVC " + name_space + "/" + name + " was not created for pod " + name_space + "/" +
             pod.metadata.name + " (pod is not owner)";
    }
    return refuses_claim(pod.metadata.namespace_, name);
  }

  Refusal refuses_claim(const std::string& name_space, const std::string& name) const {
    const auto found = claims_.find({name_space, name});
    if (found == claims_.end()) return "persistentvolumeclaim " + quoted(name) + " not found";
    const PersistentVolumeClaim& claim = found->second;
    if (claim.phase == "Lost") {
      return of_claim(claim) + " bound to non-existent persistentvolume " +
             quoted(claim.volume_name);
    }
    if (claim.metadata.deletion_timestamp) return of_claim(claim) + " is being deleted";
    if (auto refusal = refuses_unbound(claim)) return refusal;
    if (has(claim.access_modes, "ReadWriteOncePod")) {
      return of_claim(claim) +
             " may be used by one pod at a time (ReadWriteOncePod), which gpu-scheduler cannot "
             "honour yet";
    }
    const auto volume = volumes_.find(claim.volume_name);
    if (volume == volumes_.end()) {
      return "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
    }
    return refuses_volume(claim, volume->second);
  }

  std::map<std::pair<std::string, std::string>, PersistentVolumeClaim> claims_;
  std::map<std::string, PersistentVolume> volumes_;
};

}  // namespace

PluginInstance make_volume_constraints(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<VolumeConstraints>();
  return instance;
}

}  // namespace plugins
