#include "plugins/volume_binding/storage.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace plugins {
namespace {

using namespace sched;

// The only hosts that can use the volume; empty: it is not tied to hosts, or not to them alone.
std::vector<std::string> hosts_of(const k8s::PersistentVolume& volume) {
  if (!volume.node_affinity || volume.node_affinity->terms.size() != 1) return {};
  for (const auto& each : volume.node_affinity->terms.front().match_expressions) {
    if (each.key == "kubernetes.io/hostname" && each.op == k8s::SelectorOperator::kIn)
      return each.values;
  }
  return {};
}

// The claim that the write is for.
ClaimKey claim_in(const ReserveVolume& write) { return {write.claim.namespace_, write.claim.name}; }

template <typename Map>
auto* find_in(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

bool is_reserved_for(const k8s::PersistentVolume& volume, const k8s::PersistentVolumeClaim& claim) {
  if (!volume.claim_ref || volume.claim_ref->name != claim.metadata.name ||
      volume.claim_ref->namespace_ != claim.metadata.namespace_) {
    return false;
  }
  return volume.claim_ref->uid.empty() || volume.claim_ref->uid == claim.metadata.uid;
}

bool Storage::apply(const ClusterChange& change) {
  if (const auto* claim = std::get_if<VolumeClaimUpserted>(&change)) return put(claim->object);
  if (const auto* claim_gone = std::get_if<VolumeClaimGone>(&change)) {
    return claims_.erase({claim_gone->namespace_, claim_gone->name}) != 0;
  }
  if (const auto* volume = std::get_if<VolumeUpserted>(&change)) {
    put(volume->object);
  } else if (const auto* volume_gone = std::get_if<VolumeGone>(&change)) {
    take_out(volume_gone->name);
  } else if (const auto* made = std::get_if<ObjectUpserted<k8s::StorageClass>>(&change)) {
    classes_[made->object.metadata.name] = made->object;
  } else if (const auto* class_gone = std::get_if<ObjectGone<k8s::StorageClass>>(&change)) {
    classes_.erase(class_gone->name);
  } else if (const auto* driver = std::get_if<ObjectUpserted<k8s::CsiDriver>>(&change)) {
    drivers_[driver->object.metadata.name] = driver->object.storage_capacity;
  } else if (const auto* driver_gone = std::get_if<ObjectGone<k8s::CsiDriver>>(&change)) {
    drivers_.erase(driver_gone->name);
  } else if (const auto* room = std::get_if<ObjectUpserted<k8s::CsiStorageCapacity>>(&change)) {
    const ClaimKey key = key_of(room->object.metadata);
    take_out_capacity(key);
    capacities_[room->object.storage_class].emplace(key, room->object);
  } else if (const auto* room_gone = std::get_if<ObjectGone<k8s::CsiStorageCapacity>>(&change)) {
    take_out_capacity({room_gone->namespace_, room_gone->name});
  } else if (const auto* node = std::get_if<ObjectUpserted<k8s::CsiNode>>(&change)) {
    put(node->object);
  } else if (const auto* node_gone = std::get_if<ObjectGone<k8s::CsiNode>>(&change)) {
    taken_over_.erase(node_gone->name);
  } else if (const auto* assumed = std::get_if<WriteAssumed>(&change)) {
    assume(assumed->write, true);
  } else if (const auto* over = std::get_if<WriteOver>(&change)) {
    assume(over->write, false);
  }
  return true;
}

bool Storage::put(const VolumeClaim& claim) {
  const auto [known, is_new] = claims_.try_emplace(key_of(claim.metadata), claim);
  if (is_new) return true;
  // A change of these fields alone changes no answer, unless a write is awaited: then the version
  // decides whether the claim is newer than the write.
  VolumeClaim& kept = known->second;
  kept.metadata.resource_version = claim.metadata.resource_version;
  kept.metadata.generation = claim.metadata.generation;
  kept.metadata.labels = claim.metadata.labels;
  if (kept == claim) return selections_.contains(known->first);
  kept = claim;
  return true;
}

void Storage::assume(const ObjectWrite& write, bool done) {
  if (const auto* selection = std::get_if<SelectNode>(&write)) {
    const ClaimKey claim{selection->claim.namespace_, selection->claim.name};
    if (done) {
      selections_[claim] = *selection;
    } else {
      selections_.erase(claim);
    }
    return;
  }
  const auto& reservation = std::get<ReserveVolume>(write);
  const std::string& name = reservation.volume.name;
  const Volume* known = volume(name);
  if (known != nullptr) unfile(*known);
  if (const auto before = reservations_.find(name); before != reservations_.end()) {
    const auto of_claim = reserving_.find(claim_in(before->second));
    of_claim->second.erase(name);
    if (of_claim->second.empty()) reserving_.erase(of_claim);
    reservations_.erase(before);
  }
  if (done) {
    reservations_.emplace(name, reservation);
    reserving_[claim_in(reservation)].insert(name);
  }
  if (known != nullptr) file(*known);
}

void Storage::put(const Volume& volume) {
  take_out(volume.metadata.name);
  auto& kept = volumes_[volume.metadata.name];
  kept = std::make_unique<Volume>(volume);
  if (kept->claim_ref) {
    reserved_[{kept->claim_ref->namespace_, kept->claim_ref->name}].insert(kept->metadata.name);
  }
  if (kept->in_tree_disk) {
    if (const InTreeKind* kind = in_tree_kind(kept->in_tree_disk->source)) {
      in_tree_[kept->metadata.name] = {kind, node_affinity_by_driver(*kept, *kind)};
    }
  }
  file(*kept);
}

void Storage::put(const k8s::CsiNode& node) {
  std::set<const InTreeKind*> kinds;
  for (const InTreeKind& kind : kInTreeKinds) {
    if (is_taken_over(node, kind)) kinds.insert(&kind);
  }
  if (kinds.empty()) {
    taken_over_.erase(node.metadata.name);
  } else {
    taken_over_[node.metadata.name] = std::move(kinds);
  }
}

bool Storage::is_usable_by_affinity(const Volume& volume) const {
  return !in_tree_.contains(volume.metadata.name);
}

bool Storage::is_usable_on(const Volume& volume, const NodeFacts& node) const {
  const k8s::NodeSelector* nodes = volume.node_affinity ? &*volume.node_affinity : nullptr;
  if (const InTree* disk = find_in(in_tree_, volume.metadata.name)) {
    const auto* kinds = find_in(taken_over_, node.name);
    if (kinds != nullptr && kinds->contains(disk->kind)) {
      nodes = disk->by_driver ? &*disk->by_driver : nullptr;
    }
  }
  return nodes == nullptr || nodes->matches({}, node.labels);
}

void Storage::take_out(const std::string& name) {
  const auto known = volumes_.find(name);
  if (known == volumes_.end()) return;
  const Volume& volume = *known->second;
  unfile(volume);
  in_tree_.erase(name);
  if (volume.claim_ref) {
    const auto of_claim = reserved_.find({volume.claim_ref->namespace_, volume.claim_ref->name});
    of_claim->second.erase(name);
    if (of_claim->second.empty()) reserved_.erase(of_claim);
  }
  volumes_.erase(known);
}

void Storage::take_out_capacity(const ClaimKey& key) {
  for (auto of = capacities_.begin(); of != capacities_.end();) {
    of->second.erase(key);
    of = of->second.empty() ? capacities_.erase(of) : std::next(of);
  }
}

void Storage::file(const Volume& volume) {
  const bool is_free = !volume.claim_ref && volume.phase == "Available" &&
                       !volume.metadata.deletion_timestamp &&
                       !reservations_.contains(volume.metadata.name);
  if (!is_free) return;
  Pool& pool = pools_[volume.storage_class];
  const std::vector<std::string> hosts = hosts_of(volume);
  if (hosts.empty()) pool.others.insert(&volume);
  for (const std::string& host : hosts) pool.of_host[host].insert(&volume);
}

void Storage::unfile(const Volume& volume) {
  Pool* pool = find_in(pools_, volume.storage_class);
  if (pool == nullptr) return;
  pool->others.erase(&volume);
  for (const std::string& host : hosts_of(volume)) {
    const auto known = pool->of_host.find(host);
    if (known == pool->of_host.end()) continue;
    known->second.erase(&volume);
    if (known->second.empty()) pool->of_host.erase(known);
  }
  if (pool->others.empty() && pool->of_host.empty()) pools_.erase(volume.storage_class);
}

const Storage::VolumeClaim* Storage::claim(const ClaimKey& key) const {
  return find_in(claims_, key);
}

const Storage::Volume* Storage::volume(const std::string& name) const {
  const auto* kept = find_in(volumes_, name);
  return kept == nullptr ? nullptr : kept->get();
}

const k8s::StorageClass* Storage::storage_class(const std::string& name) const {
  return find_in(classes_, name);
}

bool Storage::waits_for_pod(const VolumeClaim& claim) const {
  // A claim that names its volume is bound by the volume controller.
  if (!claim.volume_name.empty()) return false;
  const k8s::StorageClass* of = storage_class(claim.storage_class);
  return of != nullptr && of->binding_mode == "WaitForFirstConsumer";
}

std::string Storage::selected_node(const VolumeClaim& claim) const {
  const SelectNode* assumed = assumed_selection(key_of(claim.metadata));
  if (assumed != nullptr) return assumed->node;
  const std::string* noted = claim.metadata.annotations.find("volume.kubernetes.io/selected-node");
  return noted == nullptr ? "" : *noted;
}

const Storage::Volume* Storage::reserved(const VolumeClaim& claim) const {
  const auto* named = find_in(reserved_, key_of(claim.metadata));
  if (named != nullptr) {
    for (const std::string& name : *named) {
      const Volume* it = volume(name);
      if (is_reserved_for(*it, claim)) return it;
    }
  }
  const auto* assumed = find_in(reserving_, key_of(claim.metadata));
  return assumed == nullptr ? nullptr : volume(*assumed->begin());
}

const SelectNode* Storage::assumed_selection(const ClaimKey& claim) const {
  return find_in(selections_, claim);
}

const ReserveVolume* Storage::assumed_reservation(const std::string& volume) const {
  return find_in(reservations_, volume);
}

const Storage::Pool* Storage::free_volumes(const std::string& storage_class) const {
  return find_in(pools_, storage_class);
}

std::optional<std::vector<const k8s::LabelSelector*>> Storage::room_for(
    const k8s::StorageClass& of, const VolumeClaim& claim) const {
  const bool* says = find_in(drivers_, of.provisioner);
  if (says == nullptr || !*says || !claim.requested_bytes) return std::nullopt;
  std::vector<const k8s::LabelSelector*> found;
  const auto of_class = capacities_.find(of.metadata.name);
  if (of_class == capacities_.end()) return found;
  for (const auto& [key, capacity] : of_class->second) {
    // The more precise of the two.
    const auto& most =
        capacity.maximum_volume_bytes ? capacity.maximum_volume_bytes : capacity.capacity_bytes;
    if (!capacity.node_topology || !most) continue;
    if (*most >= *claim.requested_bytes) found.push_back(&*capacity.node_topology);
  }
  return found;
}

}  // namespace plugins
