#include "plugins/volume_constraints/volume_constraints.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace plugins {

namespace {

using namespace sched;
using k8s::NodeSelector;
using k8s::NodeSelectorTerm;
using k8s::PersistentVolume;
using k8s::PersistentVolumeClaim;
using k8s::SelectorOperator;
using k8s::SelectorRequirement;

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

// kube-scheduler's plugins for the two, and their words. Source: plugins/volumebinding,
// plugins/volumezone.
constexpr std::string_view kVolumeBinding = "VolumeBinding";
constexpr std::string_view kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
constexpr std::string_view kVolumeZone = "VolumeZone";
constexpr std::string_view kNotItsZone = "node(s) had no available volume zone";

// A label that ties volumes to a zone or region, and the one that nodes carry instead of an old
// one.
struct ZoneLabel {
  std::string_view name;
  std::string_view on_newer_nodes;
};
constexpr std::array<ZoneLabel, 4> kZoneLabels = {{
    {"topology.kubernetes.io/zone", {}},
    {"topology.kubernetes.io/region", {}},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
}};

// "a__b": the volume is in both. None: not such a list.
std::vector<std::string> zones_in(std::string_view text) {
  constexpr std::string_view kBetween = "__";
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::vector<std::string> zones;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(kBetween, from), text.size());
    std::string_view zone = text.substr(from, to - from);
    zone.remove_prefix(std::min(zone.find_first_not_of(kBlanks), zone.size()));
    zone = zone.substr(0, zone.find_last_not_of(kBlanks) + 1);
    if (zone.empty()) return {};
    zones.emplace_back(zone);
    from = to + kBetween.size();
  }
  return zones;
}

SelectorRequirement absent(std::string_view label) {
  return {.key = std::string(label), .op = SelectorOperator::kDoesNotExist, .values = {}};
}

// The nodes that are in the volume's zones and regions, or in none at all; nullopt: it names none.
std::optional<NodeSelector> zones_of(const PersistentVolume& volume) {
  // Alternatives, each a list of what must hold.
  std::vector<NodeSelectorTerm> terms(1);
  for (const ZoneLabel& label : kZoneLabels) {
    const std::string* value = volume.metadata.labels.find(label.name);
    if (value == nullptr) continue;
    const std::vector<std::string> zones = zones_in(*value);
    if (zones.empty()) continue;
    const auto in_zones = [&](std::string_view key) {
      return SelectorRequirement{
          .key = std::string(key), .op = SelectorOperator::kIn, .values = zones};
    };
    std::vector<NodeSelectorTerm> further;
    for (NodeSelectorTerm& term : terms) {
      if (!label.on_newer_nodes.empty()) {
        NodeSelectorTerm& newer = further.emplace_back(term);
        newer.match_expressions.push_back(in_zones(label.on_newer_nodes));
        newer.match_expressions.push_back(absent(label.name));
      }
      term.match_expressions.push_back(in_zones(label.name));
    }
    terms.insert(terms.end(), further.begin(), further.end());
  }
  if (terms.front().match_expressions.empty()) return std::nullopt;
  NodeSelectorTerm& in_none = terms.emplace_back();
  for (const ZoneLabel& label : kZoneLabels)
    in_none.match_expressions.push_back(absent(label.name));
  return NodeSelector{std::move(terms)};
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

class VolumeConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "VolumeConstraints"; }

  Refusal refuses(const k8s::Pod& pod) const override {
    for (const k8s::Volume& volume : pod.spec.volumes) {
      if (auto refusal = refuses_one(pod, volume)) return refusal;
    }
    return std::nullopt;
  }

  // Where each bound volume may be mounted; of those that refuses() has nothing against.
  std::vector<Exclusion> excludes(const k8s::Pod& pod) const override {
    std::vector<Exclusion> found;
    std::vector<Exclusion> zones;
    for (const k8s::Volume& mount : pod.spec.volumes) {
      const Volume* volume = bound_volume(pod, mount);
      if (volume == nullptr) continue;
      if (volume->object.node_affinity) {
        found.push_back({.plugin = kVolumeBinding,
                         .reason = kNotItsNode,
                         .code = Code::kUnresolvable,
                         .only = &*volume->object.node_affinity});
      }
      if (volume->zones) {
        zones.push_back({.plugin = kVolumeZone,
                         .reason = kNotItsZone,
                         .code = Code::kUnresolvable,
                         .only = &*volume->zones});
      }
    }
    found.insert(found.end(), zones.begin(), zones.end());
    return found;
  }

  ChangeMask wakes_on() const override { return kStorageChanged; }

  bool apply(const ClusterChange& change) override {
    if (const auto* claim = std::get_if<VolumeClaimUpserted>(&change)) {
      const k8s::ObjectMeta& meta = claim->object.metadata;
      claims_[{meta.namespace_, meta.name}] = claim->object;
    } else if (const auto* claim_gone = std::get_if<VolumeClaimGone>(&change)) {
      claims_.erase({claim_gone->namespace_, claim_gone->name});
    } else if (const auto* volume = std::get_if<VolumeUpserted>(&change)) {
      volumes_[volume->object.metadata.name] = {volume->object, zones_of(volume->object)};
    } else if (const auto* volume_gone = std::get_if<VolumeGone>(&change)) {
      volumes_.erase(volume_gone->name);
    } else {
      return false;
    }
    return true;
  }

 private:
  struct Volume {
    PersistentVolume object;
    std::optional<NodeSelector> zones;
  };

  // Null: the pod's volume needs no claim, or has none that is bound.
  const Volume* bound_volume(const k8s::Pod& pod, const k8s::Volume& mount) const {
    using Kind = k8s::Volume::Kind;
    if (mount.kind == Kind::kDisk) return nullptr;
    const auto claim = claims_.find({pod.metadata.namespace_, mount.kind == Kind::kEphemeral
                                                                  ? claim_made_for(pod, mount)
                                                                  : mount.claim_name});
    if (claim == claims_.end()) return nullptr;
    const auto volume = volumes_.find(claim->second.volume_name);
    return volume == volumes_.end() ? nullptr : &volume->second;
  }

  static std::string claim_made_for(const k8s::Pod& pod, const k8s::Volume& ephemeral) {
    return pod.metadata.name + "-" + ephemeral.name;
  }

  Refusal refuses_one(const k8s::Pod& pod, const k8s::Volume& volume) const {
    switch (volume.kind) {
      case k8s::Volume::Kind::kDisk:
        return "pod mounts the disk " + quoted(volume.name) + " in-line (" + volume.source +
               "), which gpu-scheduler cannot honour yet";
      case k8s::Volume::Kind::kEphemeral:
        return refuses_ephemeral(pod, claim_made_for(pod, volume));
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
    if (!volumes_.contains(claim.volume_name)) {
      return "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
    }
    return std::nullopt;
  }

  std::map<std::pair<std::string, std::string>, PersistentVolumeClaim> claims_;
  std::map<std::string, Volume> volumes_;
};

}  // namespace

PluginInstance make_volume_constraints(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<VolumeConstraints>();
  return instance;
}

}  // namespace plugins
