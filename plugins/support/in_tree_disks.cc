#include "plugins/support/in_tree_disks.h"

#include "k8s-client/ascii.h"

#include <algorithm>
#include <set>
#include <vector>

namespace plugins {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
constexpr const char* kOldRegion = "failure-domain.beta.kubernetes.io/region";

template <typename Is>
const InTreeKind* find(Is is) {
  const auto* const found = std::find_if(kInTreeKinds.begin(), kInTreeKinds.end(), is);
  return found == kInTreeKinds.end() ? nullptr : found;
}

std::vector<std::string> split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::string_view::npos; text.remove_prefix(at + by.size())) {
    at = text.find(by);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
  }
  return parts;
}

// "aws://zone/vol-1" and "vol-1" are one volume.
std::optional<std::string> ebs_handle(std::string_view id) {
  constexpr std::string_view kScheme = "aws://";
  if (!id.starts_with(kScheme)) return std::string(id);
  const std::size_t path = id.find('/', kScheme.size());
  if (path == std::string_view::npos) return std::nullopt;
  id.remove_prefix(path);
  while (id.starts_with('/')) id.remove_prefix(1);
  while (id.ends_with('/')) id.remove_suffix(1);
  if (!id.starts_with("vol-") || id.find('/') != std::string_view::npos) return std::nullopt;
  return std::string(id);
}

std::string gce_handle(std::string_view kind, std::string_view where, std::string_view disk) {
  std::string handle = "projects/UNSPECIFIED/";
  handle.append(kind).append("/").append(where).append("/disks/").append(disk);
  return handle;
}

// The region of zones like "us-central1-a"; nullopt: there are several, or the names are different.
std::optional<std::string> gce_region_of(const std::vector<std::string>& zones) {
  std::set<std::string> regions;
  for (const std::string& zone : zones) {
    if (std::count(zone.begin(), zone.end(), '-') != 2) return std::nullopt;
    regions.insert(zone.substr(0, zone.rfind('-')));
  }
  if (regions.size() != 1) return std::nullopt;
  return *regions.begin();
}

std::optional<std::string> gce_handle(const k8s::PersistentVolume& volume, std::string_view disk) {
  const std::string* label = volume.metadata.labels.find(kOldZone);
  if (label == nullptr || label->empty()) label = volume.metadata.labels.find(kZone);
  if (label == nullptr || label->empty()) return gce_handle("zones", "UNSPECIFIED", disk);
  const std::vector<std::string> zones = split(*label, "__");
  if (zones.size() == 1) return gce_handle("zones", zones.front(), disk);
  const auto region = gce_region_of(zones);
  if (!region) return std::nullopt;
  return gce_handle("regions", *region, disk);
}

bool asks_for(const k8s::NodeSelector& nodes, std::string_view key) {
  return std::any_of(nodes.terms.begin(), nodes.terms.end(), [&](const auto& term) {
    return std::any_of(term.match_expressions.begin(), term.match_expressions.end(),
                       [&](const auto& each) { return each.key == key; });
  });
}

bool has_values(const k8s::NodeSelector& nodes, std::string_view key) {
  return std::any_of(nodes.terms.begin(), nodes.terms.end(), [&](const auto& term) {
    return std::any_of(term.match_expressions.begin(), term.match_expressions.end(),
                       [&](const auto& each) { return each.key == key && !each.values.empty(); });
  });
}

void rename(k8s::NodeSelector& nodes, std::string_view from, std::string_view to) {
  for (k8s::NodeSelectorTerm& term : nodes.terms) {
    for (k8s::SelectorRequirement& each : term.match_expressions) {
      if (each.key == from) each.key = to;
    }
  }
}

// Whether the volume has the label for zones that Kubernetes used before 1.17.
bool is_by_old_labels(const k8s::PersistentVolume& volume, const k8s::NodeSelector& nodes) {
  if (asks_for(nodes, kZone)) return false;
  if (asks_for(nodes, kOldZone)) return true;
  return volume.metadata.labels.find(kZone) == nullptr &&
         volume.metadata.labels.find(kOldZone) != nullptr;
}

std::vector<std::string> zones_of(const std::string& label) {
  std::set<std::string> zones;
  for (const std::string& text : split(label, "__")) {
    if (const auto zone = k8s::trimmed(text, " "); !zone.empty()) zones.emplace(zone);
  }
  return {zones.begin(), zones.end()};
}

}  // namespace

const InTreeKind* in_tree_kind(std::string_view source) {
  return find([&](const InTreeKind& kind) { return kind.source == source; });
}

const InTreeKind* in_tree_kind_of_provisioner(std::string_view name) {
  return find([&](const InTreeKind& kind) { return kind.plugin == name; });
}

bool is_uncounted_provisioner(std::string_view name) {
  return name == "kubernetes.io/azure-file" || name == "kubernetes.io/vsphere-volume";
}

bool is_taken_over(const k8s::CsiNode& node, const InTreeKind& kind) {
  const std::string* all =
      node.metadata.annotations.find("storage.alpha.kubernetes.io/migrated-plugins");
  if (all == nullptr) return false;
  const std::vector<std::string> names = split(*all, ",");
  return std::find(names.begin(), names.end(), kind.plugin) != names.end();
}

std::optional<std::string> handle_of(const k8s::PersistentVolume& volume) {
  if (!volume.in_tree_disk) return std::nullopt;
  const k8s::InTreeDisk& disk = *volume.in_tree_disk;
  if (disk.source == "awsElasticBlockStore") return ebs_handle(disk.id);
  if (disk.source == "gcePersistentDisk") return gce_handle(volume, disk.id);
  return disk.id;
}

std::optional<std::string> handle_of(const k8s::Volume& in_line) {
  if (in_line.source == "awsElasticBlockStore") return ebs_handle(in_line.disk.id);
  if (in_line.source == "gcePersistentDisk") {
    return gce_handle("zones", "UNSPECIFIED", in_line.disk.id);
  }
  return in_line.disk.id;
}

std::optional<k8s::NodeSelector> node_affinity_by_driver(const k8s::PersistentVolume& volume,
                                                         const InTreeKind& kind) {
  if (kind.zone_label.empty()) return volume.node_affinity;
  k8s::NodeSelector nodes = volume.node_affinity.value_or(k8s::NodeSelector{});
  const bool old = is_by_old_labels(volume, nodes);
  const char* const zone = old ? kOldZone : kZone;
  if (has_values(nodes, zone)) {
    rename(nodes, zone, kind.zone_label);
  } else if (const std::string* label = volume.metadata.labels.find(zone)) {
    std::vector<std::string> zones = zones_of(*label);
    if (!zones.empty()) {
      if (nodes.terms.empty()) nodes.terms.emplace_back();
      for (k8s::NodeSelectorTerm& term : nodes.terms) {
        term.match_expressions.push_back(
            {std::string(kind.zone_label), k8s::SelectorOperator::kIn, zones});
      }
    }
  }
  if (old && has_values(nodes, kOldRegion)) rename(nodes, kOldRegion, kRegion);
  if (nodes.terms.empty()) return volume.node_affinity;
  return nodes;
}

}  // namespace plugins
