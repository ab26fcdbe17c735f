// NodeVolumeLimits: how many volumes of a CSI driver a node can have attached.
//
// A node's CSINode says how many volumes of each driver it takes. Those that its pods use count
// once each, and so do attachments of volumes that no pod there uses (any more). What counts as a
// volume: volume_users.h. A driver may also keep pods with its volumes off nodes without the driver
// (CSIDriver's preventPodSchedulingIfMissing). Without arguments.
//
// Source: kube-scheduler, plugins/nodevolumelimits/csi.go.
#include "plugins/factories.h"
#include "plugins/node_volume_limits/volume_room.h"
#include "plugins/node_volume_limits/volume_users.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace plugins {
namespace {

using namespace sched;

constexpr std::string_view kNodeVolumeLimits = "NodeVolumeLimits";
constexpr std::string_view kTooMany = "node(s) exceed max volume count";

// Counts 1 on each node that does not take `count` more volumes of the driver.
class Full final : public Counted {
 public:
  Full(std::shared_ptr<const VolumeRoom> room, Driver driver, std::int64_t count)
      : room_(std::move(room)), driver_(std::move(driver)), count_(count) {}
  std::int32_t amount(const PodClass& /*pod*/) const override { return 0; }
  std::int32_t amount_of_node(const NodeFacts& node) const override {
    return room_->takes(node.name, driver_, count_) ? 0 : 1;
  }

 private:
  std::shared_ptr<const VolumeRoom> room_;
  Driver driver_;
  std::int64_t count_;
};

// By driver, how many volumes a pod needs that no node has yet.
using VolumesByDriver = std::map<Driver, std::int64_t>;

// Rules out the nodes that do not take all of them.
class RoomForAll final : public PodRule {
 public:
  RoomForAll(const std::shared_ptr<const VolumeRoom>& room, const VolumesByDriver& wanted) {
    for (const auto& [driver, count] : wanted) {
      counts_.push_back({.id = fmt::format("{} {} {}", kNodeVolumeLimits, count, driver),
                         .key = "",
                         .what = std::make_shared<Full>(room, driver, count),
                         .by_node = true});
    }
  }
  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> /*counted*/) const override {
    std::vector<DomainBound> all;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      all.push_back({.count = i, .at_most = 0, .plugin = kNodeVolumeLimits, .reason = kTooMany});
    }
    return all;
  }
};

// For most pods, no pod on a node uses one of their volumes yet. Such a pod has a rule (rule_for),
// which it shares with all pods that need as many volumes of the same drivers. Otherwise, and in a
// trial that changes the use of volumes, each node that may be full is checked (excludes).
class NodeVolumeLimits final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kNodeVolumeLimits; }
  bool concerns(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }

  std::vector<Exclusion> excludes(const k8s::Pod& pod, const PodDifference& trial) const override {
    const VolumeUsers::Changes& changes = users_.change_in(trial);
    const std::set<Attached> volumes = users_.volumes_of(pod);
    std::vector<Exclusion> all;
    for (const auto& [driver, count] : wanted(volumes)) {
      if (const auto* required = users_.required(driver)) {
        all.push_back(
            {.plugin = kNodeVolumeLimits,
             .reason = required->reason,
             .allowed = NamedNodes{.names = {required->nodes.begin(), required->nodes.end()}}});
      }
    }
    const bool any_used = is_any_used(volumes);
    if (changes.empty() && !any_used) return all;
    NamedNodes full{.names = {}, .all_others = true};
    for (const auto& [driver, count] : wanted(volumes)) {
      for (const std::string* node : users_.room()->short_of(driver, count)) {
        if (changes.contains(*node)) continue;
        if (!any_used || !users_.room()->takes(*node, driver, volumes, {})) {
          full.names.push_back(*node);
        }
      }
      for (const auto& [node, change] : changes) {
        if (!users_.room()->takes(node, driver, volumes, change.kept)) full.names.push_back(node);
      }
    }
    if (full.names.empty()) return all;
    all.push_back({.plugin = kNodeVolumeLimits, .reason = kTooMany, .allowed = std::move(full)});
    return all;
  }

  std::string excludes_by(const k8s::Pod& pod) const override { return volumes_key(pod); }

  bool is_ruled(const k8s::Pod& pod) const override { return !pod.spec.volumes.empty(); }
  bool rule_reads_pods(const k8s::Pod& pod) const override { return is_ruled(pod); }
  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod,
                                    const PodDifference& trial) const override {
    const VolumesByDriver wanted = new_volumes_of(pod);
    if (wanted.empty() || !users_.change_in(trial).empty()) return nullptr;
    return std::make_unique<RoomForAll>(users_.room(), wanted);
  }
  std::string reads_besides(const k8s::Pod& pod) const override {
    std::string all;
    if (pod.spec.volumes.empty()) return all;
    for (const auto& [driver, count] : new_volumes_of(pod)) {
      all += fmt::format("{} {}\n", count, driver);
    }
    return all;
  }
  std::vector<std::string> take_recounted() override { return users_.room()->take_changed(); }

  ChangeMask reads() const override { return VolumeUsers::kReads; }
  bool apply(const ClusterChange& change) override { return users_.apply(change); }

 private:
  static VolumesByDriver wanted(const std::set<Attached>& volumes) {
    VolumesByDriver all;
    for (const Attached& volume : volumes) ++all[volume.first];
    return all;
  }
  bool is_any_used(const std::set<Attached>& volumes) const {
    return std::any_of(volumes.begin(), volumes.end(),
                       [&](const Attached& volume) { return users_.room()->is_used(volume); });
  }
  // What the shared rule counts; empty if a pod on a node uses one of the volumes.
  VolumesByDriver new_volumes_of(const k8s::Pod& pod) const {
    const std::set<Attached> volumes = users_.volumes_of(pod);
    return is_any_used(volumes) ? VolumesByDriver{} : wanted(volumes);
  }

  VolumeUsers users_;
};

}  // namespace

PluginInstance make_node_volume_limits(k8s::yaml::ObjectReader& /*args*/) {
  return {.constraint = std::make_unique<NodeVolumeLimits>()};
}

}  // namespace plugins
