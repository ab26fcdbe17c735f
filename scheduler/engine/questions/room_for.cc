#include "scheduler/engine/questions/gpu_pieces.h"
#include "scheduler/engine/questions/questions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sched {
namespace {

struct Occupying {
  const Occupant* pod = nullptr;
  std::int64_t pieces = 0;
};

// The pods of the node that may end: those with the most GPUs first, among equals the less
// important.
std::vector<Occupying> pods_on(const Trial& trial, NodeSlot slot, const ResourceNames& names) {
  std::vector<Occupying> pods;
  for (const Occupant* occupant : trial.occupants(slot)) {
    if (occupant->kind != Occupant::Kind::kPod) continue;
    pods.push_back({occupant, gpu_pieces(occupant->claim.requests, names)});
  }
  std::sort(pods.begin(), pods.end(), [](const Occupying& a, const Occupying& b) {
    if (a.pieces != b.pieces) return a.pieces > b.pieces;
    if (more_important(*b.pod, *a.pod)) return true;
    if (more_important(*a.pod, *b.pod)) return false;
    return *a.pod->uid < *b.pod->uid;
  });
  return pods;
}

std::int64_t pieces_of(const std::vector<GpuTenant>& pods) {
  std::int64_t sum = 0;
  for (const GpuTenant& pod : pods) sum = saturating_add(sum, pod.pieces);
  return sum;
}

// A lower bound of the pieces that must be freed on the node, whichever pods have them.
std::int64_t pieces_short(const NodeView& node, const PreparedShape& shape,
                          const ResourceNames& names) {
  std::int64_t sum = 0;
  for (const auto& [resource, amount] : shape.requests()) {
    if (!gpu::is_gpu_resource(names.name(resource))) continue;
    const std::int64_t free = std::max<std::int64_t>(node.free(resource), 0);
    sum = saturating_add(sum, std::max<std::int64_t>(amount - free, 0));
  }
  return sum;
}

// The least number of pods that together have that many pieces. In `pods` those with the most GPUs
// come first.
std::size_t fewest_with(std::int64_t pieces, const std::vector<Occupying>& pods) {
  std::size_t count = 0;
  while (pieces > 0 && count < pods.size()) pieces -= pods[count++].pieces;
  return count;
}

bool are_fewer(const std::vector<GpuTenant>& a, const std::vector<GpuTenant>& b) {
  return std::pair(pieces_of(a), a.size()) < std::pair(pieces_of(b), b.size());
}

// The pods of the node that would have to end for the shape to have room there. First pods are
// taken away until the shape fits, then each pod that need not end is put back. Empty: none would
// have to end, or even all would not suffice.
std::vector<GpuTenant> pods_in_the_way(const Finder& finder, const PreparedShape& shape,
                                       NodeSlot slot, Where where, const ResourceNames& names) {
  Trial trial = *where.trial;
  where.trial = &trial;
  const auto fits = [&] { return finder.verdict(shape, slot, where).is_ok(); };
  std::vector<Occupying> ended;
  for (const Occupying& one : pods_on(trial, slot, names)) {
    if (fits()) break;
    trial.take_away(slot, *one.pod);
    ended.push_back(one);
  }
  std::vector<GpuTenant> needed;
  if (!fits()) return needed;
  for (auto one = ended.rbegin(); one != ended.rend(); ++one) {
    trial.put_back(slot, *one->pod);
    if (fits()) continue;
    trial.take_away(slot, *one->pod);
    needed.push_back({*one->pod->uid, one->pieces});
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

}  // namespace

RoomFor Questions::room_for(const k8s::Pod& pod) const {
  RoomFor room;
  const Asked asked(world_, pod);
  if (asked.shape.rejection() || objection_to(pod, asked.constraints)) return room;
  const auto by_quota = judge_by_quota(asked);
  quota::ClassSets sets;
  const Trial& trial = asked.trial.nodes;
  const Ruling ruling = finder_.ruling_anew(pod, asked.profile, refused_binds_of(asked), trial);
  Where where{.ruling = &ruling, .trial = &trial};
  // If quota has room on no node, all nodes are looked at.
  if (by_quota && !by_quota->admission.refuses()) {
    where.scope = {&sets, sets.intern(by_quota->admission.classes())};
  }
  Where empty = where;
  empty.if_empty = true;
  // Trying which pods would have to end takes most of the time, so it is done only for nodes that
  // may be better.
  const auto may_be_better = [&](NodeSlot slot) {
    if (room.node.empty()) return true;
    const std::int64_t best = pieces_of(room.pods);
    const std::int64_t needed = pieces_short(finder_.view(slot, where), asked.shape, asked.names);
    if (needed != best) return needed < best;
    return fewest_with(needed, pods_on(trial, slot, asked.names)) < room.pods.size();
  };
  for (const auto& [name, slot] : world_.nodes.by_name()) {
    if (!world_.nodes.present(slot)) continue;
    if (!may_be_better(slot) && !room.if_empty.empty()) continue;
    if (!finder_.verdict(asked.shape, slot, empty).is_ok()) continue;
    if (room.if_empty.empty()) {
      room.if_empty = name;
      room.if_empty_type = gpu_type(world_.nodes.facts(slot));
    }
    auto pods = pods_in_the_way(finder_, asked.shape, slot, where, asked.names);
    if (pods.empty() || (!room.node.empty() && !are_fewer(pods, room.pods))) continue;
    room.node = name;
    room.pods = std::move(pods);
  }
  if (!room.node.empty() && !has_room_without(pod, room.pods, world_.nodes.find(room.node))) {
    room.node.clear();
    room.pods.clear();
  }
  return room;
}

bool Questions::has_room_without(const k8s::Pod& pod, const std::vector<GpuTenant>& pods,
                                 NodeSlot node) const {
  Supposed supposed;
  for (const GpuTenant& each : pods) supposed.ended.push_back(each.uid);
  const Asked asked(world_, pod, supposed);
  const Trial& trial = asked.trial.nodes;
  const Ruling ruling = finder_.ruling_anew(pod, asked.profile, refused_binds_of(asked), trial);
  return finder_.verdict(asked.shape, node, {.ruling = &ruling, .trial = &trial}).is_ok();
}

}  // namespace sched
