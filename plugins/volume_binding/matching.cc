#include "plugins/volume_binding/matching.h"

#include "scheduler/framework/long_lists.h"

#include <algorithm>

namespace plugins {
namespace {

using namespace sched;
using VolumeClaim = Storage::VolumeClaim;
using Volume = Storage::Volume;

// The provisioner of classes with volumes made by hand.
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

bool is_usable_on(const Volume& volume, const NodeFacts& node) {
  return !volume.node_affinity || volume.node_affinity->matches({}, node.labels);
}

bool has_all_modes(const Volume& volume, const VolumeClaim& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](const auto& mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
           volume.access_modes.end();
  });
}

// Requirements that also hold for a reserved volume.
bool suits(const Volume& volume, const VolumeClaim& claim) {
  return volume.capacity_bytes.value_or(0) >= claim.requested_bytes.value_or(0) &&
         volume.volume_mode == claim.volume_mode &&
         volume.volume_attributes_class == claim.volume_attributes_class &&
         !volume.metadata.deletion_timestamp;
}

bool fits(const Volume& volume, const VolumeClaim& claim) {
  return suits(volume, claim) && has_all_modes(volume, claim) &&
         (!claim.selector || claim.selector->matches(volume.metadata.labels));
}

}  // namespace

Matching::Segments::Segments(const std::vector<const k8s::LabelSelector*>& all) {
  for (const k8s::LabelSelector* each : all) {
    if (each->match_labels.size() == 1 && each->match_expressions.empty()) {
      const auto& [label, value] = *each->match_labels.begin();
      by_label_[label].insert(value);
    } else {
      others_.push_back(each);
    }
  }
}

bool Matching::Segments::some_matches(const k8s::StringMap& labels) const {
  for (const auto& [label, values] : by_label_) {
    const std::string* value = labels.find(label);
    if (value != nullptr && values.contains(*value)) return true;
  }
  return std::any_of(others_.begin(), others_.end(),
                     [&](const auto* segment) { return segment->matches(labels); });
}

Matching::Matching(const Storage& storage, const std::vector<const VolumeClaim*>& claims) {
  for (const VolumeClaim* claim : claims) {
    const k8s::StorageClass* of = storage.storage_class(claim->storage_class);
    Wanted wanted{.claim = claim,
                  .selected = storage.selected_node(*claim),
                  .reserved = storage.reserved(*claim),
                  .others = {},
                  .pool = storage.free_volumes(claim->storage_class),
                  .of = of,
                  .room = {}};
    if (const auto room = storage.room_for(*of, *claim)) {
      wanted.room = std::make_shared<const Segments>(*room);
    }
    if (!wanted.selected.empty()) {
      selected_.push_back(std::move(wanted));
      continue;
    }
    if (wanted.reserved != nullptr && (!suits(*wanted.reserved, *claim) ||
                                       wanted.reserved->storage_class != claim->storage_class)) {
      wanted.reserved = nullptr;
    }
    if (wanted.pool != nullptr) {
      for (const Volume* volume : wanted.pool->others) {
        if (fits(*volume, *claim)) wanted.others.push_back(volume);
      }
    }
    open_.push_back(std::move(wanted));
  }
  std::stable_sort(open_.begin(), open_.end(), [](const Wanted& a, const Wanted& b) {
    return a.claim->requested_bytes.value_or(0) < b.claim->requested_bytes.value_or(0);
  });
}

template <typename IsLeft>
const Volume* Matching::find(const Wanted& wanted, const NodeFacts& node, const IsLeft& is_left) {
  if (wanted.reserved != nullptr) return is_left(wanted.reserved) ? wanted.reserved : nullptr;
  const auto other = std::find_if(wanted.others.begin(), wanted.others.end(), is_left);
  const Volume* smallest = other == wanted.others.end() ? nullptr : *other;
  if (wanted.pool == nullptr) return smallest;
  const std::string* host = node.labels.find("kubernetes.io/hostname");
  if (host == nullptr) return smallest;
  const auto of_host = wanted.pool->of_host.find(*host);
  if (of_host == wanted.pool->of_host.end()) return smallest;
  for (const Volume* volume : of_host->second) {
    if (smallest != nullptr && !Storage::BySize{}(volume, smallest)) break;
    if (fits(*volume, *wanted.claim) && is_left(volume)) return volume;
  }
  return smallest;
}

void Matching::Taken::add(const OnNode& of_pod) {
  for (const auto& [claim, volume] : of_pod.bound) {
    claims.insert(claim);
    volumes.insert(volume);
  }
  claims.insert(of_pod.provisioned.begin(), of_pod.provisioned.end());
}

Matching::OnNode Matching::on(const NodeFacts& node, const Taken& by_others) const {
  OnNode all;
  std::vector<const Wanted*> to_provision;
  for (const Wanted& wanted : selected_) {
    if (by_others.claims.contains(wanted.claim)) continue;
    if (wanted.selected != node.name) {
      all.result = OnNode::Result::kNoVolume;
      return all;
    }
    to_provision.push_back(&wanted);
  }
  std::vector<const Volume*> taken;
  const auto is_left = [&](const Volume* volume) {
    return std::find(taken.begin(), taken.end(), volume) == taken.end() &&
           !by_others.volumes.contains(volume) && is_usable_on(*volume, node);
  };
  for (const Wanted& wanted : open_) {
    if (by_others.claims.contains(wanted.claim)) continue;
    if (const Volume* volume = find(wanted, node, is_left)) {
      taken.push_back(volume);
      all.bound.emplace_back(wanted.claim, volume);
    } else {
      to_provision.push_back(&wanted);
    }
  }
  for (const Wanted* wanted : to_provision) {
    all.result = provision(*wanted, node);
    if (all.result != OnNode::Result::kFits) return all;
    all.provisioned.push_back(wanted->claim);
  }
  return all;
}

std::size_t Matching::cost() const {
  std::size_t cost = selected_.size() + open_.size();
  for (const auto* all : {&selected_, &open_}) {
    for (const Wanted& wanted : *all) {
      if (wanted.room != nullptr) cost += wanted.room->cost();
    }
  }
  for (const Wanted& wanted : open_) {
    if (wanted.claim->selector) cost += parts_of(*wanted.claim->selector);
  }
  return cost;
}

Matching::OnNode::Result Matching::provision(const Wanted& wanted, const NodeFacts& node) {
  const k8s::StorageClass& of = *wanted.of;
  if (!is_provisioned(wanted)) return OnNode::Result::kNoVolume;
  if (of.allowed_topologies && !of.allowed_topologies->matches({}, node.labels)) {
    return OnNode::Result::kNoVolume;
  }
  const bool has_room = wanted.room == nullptr || wanted.room->some_matches(node.labels);
  return has_room ? OnNode::Result::kFits : OnNode::Result::kNoRoom;
}

bool Matching::finds_none(const Wanted& wanted) {
  return wanted.reserved == nullptr && wanted.others.empty() &&
         (wanted.pool == nullptr || wanted.pool->of_host.empty());
}

bool Matching::is_provisioned(const Wanted& wanted) {
  return !wanted.of->provisioner.empty() && wanted.of->provisioner != kNoProvisioner;
}

Matching::Left Matching::left() const {
  Left all{.nodes = NamedNodes{.names = {}, .all_others = true}, .exact = true};
  const Left none{.nodes = NamedNodes{}, .exact = true};
  const auto narrow = [&all](const Wanted& wanted) {
    const auto& topologies = wanted.of->allowed_topologies;
    if (!topologies) return;
    const auto* named = std::get_if<NamedNodes>(&all.nodes);
    if (named != nullptr && named->all_others) {
      all.nodes = &*topologies;
    } else if (named != nullptr || std::get<const k8s::NodeSelector*>(all.nodes) != &*topologies) {
      all.exact = false;
    }
  };
  // The first claim that a node cannot have gives the reason, so no claim behind one without room
  // there says anything about the node.
  const auto lacks_room_somewhere = [&all](const Wanted& wanted) {
    if (wanted.room != nullptr) all.exact = false;
    return wanted.room != nullptr;
  };
  if (!selected_.empty()) all.nodes = NamedNodes{.names = {selected_.front().selected}};
  for (const Wanted& wanted : selected_) {
    const bool elsewhere = wanted.selected != selected_.front().selected;
    if (elsewhere || !is_provisioned(wanted)) return none;
    narrow(wanted);
    if (lacks_room_somewhere(wanted)) return all;
  }
  for (const Wanted& wanted : open_) {
    if (!finds_none(wanted)) {
      all.exact = false;
    } else if (!is_provisioned(wanted)) {
      return none;
    } else {
      narrow(wanted);
    }
    if (lacks_room_somewhere(wanted)) return all;
  }
  return all;
}

bool Matching::looks_for_room() const {
  const auto looks = [](const Wanted& wanted) { return wanted.room != nullptr; };
  return std::any_of(selected_.begin(), selected_.end(), looks) ||
         std::any_of(open_.begin(), open_.end(), looks);
}

}  // namespace plugins
