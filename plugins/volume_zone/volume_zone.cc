// VolumeZone: a pod goes to the zones and regions that the labels of its bound volumes name.
//
// Nodes without any such label are not excluded. A pod waits while a volume that its claim names is
// missing. The claims of ephemeral volumes do not count. Without arguments.
//
// Source: kube-scheduler, plugins/volumezone.
#include "k8s-client/ascii.h"
#include "plugins/factories.h"
#include "plugins/support/volume_claims.h"

#include <array>

namespace plugins {
namespace {

using namespace sched;
using k8s::NodeSelector;
using k8s::NodeSelectorTerm;
using k8s::PersistentVolume;
using k8s::SelectorOperator;
using k8s::SelectorRequirement;

constexpr std::string_view kVolumeZone = "VolumeZone";
constexpr std::string_view kNotItsZone = "node(s) had no available volume zone";

// A label that ties volumes to a zone or region, and the label that nodes carry instead of an old
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

// The zones in "a__b": the volume is in both. Empty: not such a list.
std::vector<std::string> zones_in(std::string_view text) {
  constexpr std::string_view kBetween = "__";
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::vector<std::string> zones;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(kBetween, from), text.size());
    const std::string_view zone = k8s::trimmed(text.substr(from, to - from), kBlanks);
    if (zone.empty()) return {};
    zones.emplace_back(zone);
    from = to + kBetween.size();
  }
  return zones;
}

SelectorRequirement absent(std::string_view label) {
  return {.key = std::string(label), .op = SelectorOperator::kDoesNotExist, .values = {}};
}

// The nodes that are in the volume's zones and regions, or in none at all; nullopt: the volume
// names none.
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

class VolumeZone final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kVolumeZone; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  std::optional<Refusal> refuses(const k8s::Pod& pod) const override {
    for (const ClaimKey& key : named_claims_of(pod)) {
      const auto claim = volume_of_.find(key);
      if (claim == volume_of_.end() || claim->second.empty()) continue;
      if (!zones_.contains(claim->second)) {
        return Refusal{"persistentvolume \"" + claim->second + "\" not found",
                       {object_key<k8s::PersistentVolume>(claim->second),
                        object_key<k8s::PersistentVolumeClaim>(key.second, key.first)}};
      }
    }
    return std::nullopt;
  }

  std::vector<Exclusion> excludes(const k8s::Pod& pod,
                                  const PodDifference& /*trial*/) const override {
    std::vector<Exclusion> found;
    for (const ClaimKey& key : named_claims_of(pod)) {
      const auto claim = volume_of_.find(key);
      if (claim == volume_of_.end()) continue;
      const auto zones = zones_.find(claim->second);
      if (zones == zones_.end() || !zones->second) continue;
      found.push_back({.plugin = kVolumeZone,
                       .reason = kNotItsZone,
                       .code = Code::kUnresolvable,
                       .allowed = &*zones->second});
    }
    return found;
  }

  std::string excludes_by(const k8s::Pod& pod) const override { return volumes_key(pod); }

  ChangeMask reads() const override { return kStorageChanged; }
  bool apply(const ClusterChange& change) override {
    if (const auto* claim = std::get_if<VolumeClaimUpserted>(&change)) {
      std::string& known = volume_of_[key_of(claim->object.metadata)];
      if (known == claim->object.volume_name) return false;
      known = claim->object.volume_name;
    } else if (const auto* claim_gone = std::get_if<VolumeClaimGone>(&change)) {
      volume_of_.erase({claim_gone->namespace_, claim_gone->name});
    } else if (const auto* volume = std::get_if<VolumeUpserted>(&change)) {
      zones_[volume->object.metadata.name] = zones_of(volume->object);
    } else if (const auto* volume_gone = std::get_if<VolumeGone>(&change)) {
      zones_.erase(volume_gone->name);
    }
    return true;
  }

 private:
  ByClaim<std::string> volume_of_;                                      // empty: none yet
  std::unordered_map<std::string, std::optional<NodeSelector>> zones_;  // of all volumes
};

}  // namespace

PluginInstance make_volume_zone(k8s::yaml::ObjectReader& /*args*/) {
  return {.constraint = std::make_unique<VolumeZone>()};
}

}  // namespace plugins
