#include "tests/scheduler/engine/harness.h"

#include "bench/policies/registry.h"
#include "k8s-client/yaml/object_reader.h"

#include <algorithm>
#include <utility>

namespace tests {

using namespace sched;

namespace {

PluginInstance make(std::string_view name) {
  const k8s::yaml::Value nothing;
  k8s::yaml::ObjectReader args(nothing, "test");
  return find_plugin(bench::registry(), name)->make(args);
}

class OwnsLabelled final : public FilterPlugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "OwnsLabelled"; }
  [[nodiscard]] FilterPreparation prepare(const PodShape& /*shape*/,
                                          const PrepareContext& /*context*/) const override {
    return {};
  }
  [[nodiscard]] bool owns(const NodeFacts& node) const override {
    return node.labels.find("owned") != nullptr;
  }
};

}  // namespace

bool WaitsForNamespace::concerns(const k8s::Pod& pod) const {
  return pod.metadata.labels.find("waits-for") != nullptr;
}

std::optional<Refusal> WaitsForNamespace::refuses(const k8s::Pod& pod) const {
  const std::string* wanted = pod.metadata.labels.find("waits-for");
  if (std::find(namespaces_.begin(), namespaces_.end(), *wanted) != namespaces_.end()) {
    return std::nullopt;
  }
  return Refusal{"waiting for " + *wanted, {object_key<k8s::Namespace>(*wanted)}};
}

std::string WaitsForNamespace::note(const k8s::Pod& pod) const {
  return pod.metadata.labels.find("noted") == nullptr ? "" : "Noted.";
}

bool WaitsForNamespace::apply(const ClusterChange& change) {
  if (const auto* upserted = std::get_if<sched::NamespaceUpserted>(&change)) {
    namespaces_.push_back(upserted->object.metadata.name);
  } else if (const auto* gone = std::get_if<NamespaceGone>(&change)) {
    std::erase(namespaces_, gone->name);
  }
  if (bound_ == nullptr) return true;
  const auto forget = [&](const std::string& uid) {
    std::erase_if(*bound_, [&](const auto& entry) { return entry.first == uid; });
  };
  if (const auto* pod = std::get_if<BoundPodUpserted>(&change)) {
    forget(pod->pod.metadata.uid);
    bound_->emplace_back(pod->pod.metadata.uid, pod->pod.spec.node_name);
  } else if (const auto* pod_gone = std::get_if<BoundPodGone>(&change)) {
    forget(pod_gone->uid);
  }
  return true;
}

const char* WaitsForObject::label() const {
  switch (kind_) {
    case Kind::kNode:
      return "waits-for-node";
    case Kind::kPod:
      return "waits-for-pod";
    case Kind::kEndOfPod:
      return "waits-for-end-of";
    case Kind::kClaim:
      return "waits-for-claim";
    case Kind::kVolume:
      return "waits-for-volume";
    case Kind::kStorageClass:
      return "waits-for-storage-class";
    case Kind::kCsiNode:
      return "waits-for-csi-node";
    case Kind::kCsiDriver:
      return "waits-for-csi-driver";
    case Kind::kCsiStorageCapacity:
      return "waits-for-csi-storage-capacity";
    case Kind::kVolumeAttachment:
      return "waits-for-volume-attachment";
    case Kind::kDeviceClass:
      break;
  }
  return "waits-for-class";
}

bool WaitsForObject::concerns(const k8s::Pod& pod) const {
  return pod.metadata.labels.find(label()) != nullptr;
}

std::optional<Refusal> WaitsForObject::refuses(const k8s::Pod& pod) const {
  const std::string* wanted = pod.metadata.labels.find(label());
  const bool there = std::any_of(there_.begin(), there_.end(),
                                 [&](const auto& each) { return each.second == *wanted; });
  if (there != (kind_ == Kind::kEndOfPod)) return std::nullopt;
  return Refusal{std::string(label()) + " " + *wanted, {{.kind = kind()}}};
}

ChangeMask WaitsForObject::kind() const {
  switch (kind_) {
    case Kind::kNode:
      return kNodeChanged;
    case Kind::kPod:
      return kBoundPodChanged;
    case Kind::kEndOfPod:
      return kBoundPodRemoved;
    case Kind::kClaim:
    case Kind::kVolume:
    case Kind::kStorageClass:
    case Kind::kCsiNode:
    case Kind::kCsiDriver:
    case Kind::kCsiStorageCapacity:
    case Kind::kVolumeAttachment:
      return kStorageChanged;
    case Kind::kDeviceClass:
      break;
  }
  return kDeviceClassChanged;
}

template <typename Object>
bool WaitsForObject::note_object(const ClusterChange& change) {
  if (const auto* made = std::get_if<ObjectUpserted<Object>>(&change)) {
    const k8s::ObjectMeta& metadata = made->object.metadata;
    there_[metadata.namespace_ + "/" + metadata.name] = metadata.name;
  } else if (const auto* gone = std::get_if<ObjectGone<Object>>(&change)) {
    there_.erase(gone->namespace_ + "/" + gone->name);
  }
  return true;
}

bool WaitsForObject::apply(const ClusterChange& change) {
  switch (kind_) {
    case Kind::kNode:
      return note_object<k8s::Node>(change);
    case Kind::kPod:
    case Kind::kEndOfPod:
      if (const auto* bound = std::get_if<BoundPodUpserted>(&change)) {
        const std::string* is = bound->pod.metadata.labels.find("is");
        there_[bound->pod.metadata.uid] = is == nullptr ? "" : *is;
      } else if (const auto* gone = std::get_if<BoundPodGone>(&change)) {
        there_.erase(gone->uid);
      }
      return true;
    case Kind::kClaim:
      return note_object<k8s::PersistentVolumeClaim>(change);
    case Kind::kVolume:
      return note_object<k8s::PersistentVolume>(change);
    case Kind::kStorageClass:
      return note_object<k8s::StorageClass>(change);
    case Kind::kCsiNode:
      return note_object<k8s::CsiNode>(change);
    case Kind::kCsiDriver:
      return note_object<k8s::CsiDriver>(change);
    case Kind::kCsiStorageCapacity:
      return note_object<k8s::CsiStorageCapacity>(change);
    case Kind::kVolumeAttachment:
      return note_object<k8s::VolumeAttachment>(change);
    case Kind::kDeviceClass:
      break;
  }
  return note_object<k8s::DeviceClass>(change);
}

bool BindsClaim::concerns(const k8s::Pod& pod) const {
  return pod.metadata.labels.find("binds-claim") != nullptr;
}

std::optional<Refusal> BindsClaim::refuses(const k8s::Pod& pod) const {
  const std::string& claim = *pod.metadata.labels.find("binds-claim");
  if (std::find(assumed_.begin(), assumed_.end(), claim) == assumed_.end()) return std::nullopt;
  return Refusal{"claim " + claim + " is another pod's", {{.kind = kStorageChanged}}};
}

std::optional<Preparation> BindsClaim::preparation_for(const k8s::Pod& pod,
                                                       const NodeFacts& node) const {
  const std::string& name = *pod.metadata.labels.find("binds-claim");
  const auto claim = claims_.find(name);
  if (claim != claims_.end() && claim->second.phase == "Bound") return std::nullopt;
  Preparation wanted{
      .writes = {},
      .patience = kPatience,
      .awaits = {object_key<k8s::PersistentVolumeClaim>(name, pod.metadata.namespace_)}};
  if (claim != claims_.end() && !claim->second.metadata.annotations.empty()) return wanted;
  wanted.writes.push_back(SelectNode{
      .claim = {pod.metadata.namespace_, name, "uid of " + name, "1"}, .node = node.name});
  return wanted;
}

Readiness BindsClaim::readiness(const k8s::Pod& pod, const NodeFacts& /*node*/) const {
  const std::string& name = *pod.metadata.labels.find("binds-claim");
  const auto claim = claims_.find(name);
  const std::string phase = claim == claims_.end() ? "" : claim->second.phase;
  if (phase == "Bound") return {};
  if (phase == "Lost") return {Readiness::State::kFailed, "claim " + name + " is lost"};
  return {Readiness::State::kWaits, "claim " + name + " is not bound"};
}

bool BindsClaim::apply(const ClusterChange& change) {
  if (const auto* claim = std::get_if<sched::VolumeClaimUpserted>(&change)) {
    claims_[claim->object.metadata.name] = claim->object;
  } else if (const auto* gone = std::get_if<VolumeClaimGone>(&change)) {
    claims_.erase(gone->name);
  } else if (const auto* assumed = std::get_if<WriteAssumed>(&change)) {
    assumed_.push_back(std::get<SelectNode>(assumed->write).claim.name);
  } else if (const auto* over = std::get_if<WriteOver>(&change)) {
    std::erase(assumed_, std::get<SelectNode>(over->write).claim.name);
  }
  return true;
}

Profile profile(WaitsForNamespace::BoundPods* bound, const std::string& scheduler_name) {
  Profile made;
  made.scheduler_name = scheduler_name;
  for (const char* name :
       {"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
        "NodeResourcesFit", "GpuDevices", "GpuHealth", "GpuType", "GpuPacking"}) {
    PluginInstance plugin = make(name);
    if (plugin.filter) made.filters.push_back(std::move(plugin.filter));
    if (plugin.score) {
      made.scores.push_back({.plugin = std::move(plugin.score),
                             .weight = find_plugin(bench::registry(), name)->default_weight});
    }
  }
  made.filters.push_back(std::make_unique<OwnsLabelled>());
  made.constraints.emplace_back(std::make_unique<WaitsForNamespace>(bound));
  using Kind = WaitsForObject::Kind;
  for (const Kind kind : {Kind::kNode, Kind::kPod, Kind::kEndOfPod, Kind::kClaim, Kind::kVolume,
                          Kind::kStorageClass, Kind::kCsiNode, Kind::kCsiDriver,
                          Kind::kCsiStorageCapacity, Kind::kVolumeAttachment, Kind::kDeviceClass}) {
    made.constraints.emplace_back(std::make_unique<WaitsForObject>(kind));
  }
  made.constraints.emplace_back(std::make_unique<BindsClaim>());
  for (const char* name : {"PodTopologySpread", "InterPodAffinity"}) {
    made.constraints.emplace_back(make(name).constraint, true,
                                  find_plugin(bench::registry(), name)->default_weight);
  }
  return made;
}

std::vector<Profile> profiles(WaitsForNamespace::BoundPods* bound) {
  std::vector<Profile> made;
  made.push_back(profile(bound));
  return made;
}

std::vector<Decision> Scheduler::decisions() {
  std::vector<Decision> all;
  while (auto decision = engine.step(now)) {
    if (std::holds_alternative<decision::NodeComplaint>(*decision)) continue;
    all.push_back(std::move(*decision));
  }
  return all;
}

std::vector<std::string> Scheduler::decide() {
  struct InWords {
    std::string operator()(const decision::Bind& bind) const {
      return bind.pod.name + " → " + bind.node;
    }
    std::string operator()(const decision::Prepare& prepare) const {
      return prepare.pod.name + " prepares for " + prepare.node;
    }
    std::string operator()(const decision::Evict& evict) const {
      std::string text = evict.pod.name + " gets " + evict.node + " without";
      for (const decision::Victim& victim : evict.victims) {
        text += " " + victim.pod.name + (victim.reclaimed ? " (reclaimed)" : "");
      }
      return text;
    }
    std::string operator()(const decision::NotPrepared& undone) const {
      return undone.pod.name + " not to " + undone.node + ": " + undone.message;
    }
    std::string operator()(const decision::Unschedulable& refusal) const {
      return refusal.pod.name + " waits: " + refusal.message;
    }
    std::string operator()(const decision::ForeignGpuPod& foreign) const {
      return foreign.pod.name + " is foreign on " + foreign.node;
    }
    std::string operator()(const decision::MisnamedScheduler& misnamed) const {
      return misnamed.pod.name + " means " + misnamed.meant;
    }
    std::string operator()(const decision::NodeBackedOff& backed_off) const {
      return backed_off.node + " is backed off";
    }
    std::string operator()(const decision::NodeReleased& released) const {
      return released.node + (released.proven ? " works" : " is on trial");
    }
    std::string operator()(const decision::MigRepartition& advice) const {
      const std::string first =
          advice.to_go == 0 ? "" : ", without " + std::to_string(advice.to_go) + " pods";
      return advice.node + " should become " + advice.to + first;
    }
    std::string operator()(const decision::NodeComplaint& complaint) const {
      return complaint.node + " has wrong labels";
    }
  };
  std::vector<std::string> words;
  for (const Decision& decision : decisions()) words.push_back(std::visit(InWords{}, decision));
  return words;
}

std::size_t decisions_while_claim_flips(Scheduler& scheduler, const std::string& name) {
  std::size_t decided = scheduler.decide().size();
  for (int i = 0; i < 100; ++i) {
    scheduler.now += std::chrono::milliseconds(100);
    if (i % 2 == 0) {
      scheduler.has(claim(name, ""));
    } else {
      scheduler.apply(sched::event::VolumeClaimDeleted{name, "default"});
    }
    decided += scheduler.decide().size();
  }
  return decided;
}

}  // namespace tests
