#include "scheduler/engine/line/pod_groups.h"

#include "scheduler/gpu/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sched {
namespace {

// The kinds of pods are the numbers of their shapes, which are small.
constexpr std::uint32_t kFirstKind = 1U << 31;

// How much a pod takes, to find those first that fit on few nodes. What quota counts comes first.
std::array<std::int64_t, 4> size_of(const WaitingPod& pod, const ResourceNames& names) {
  std::array<std::int64_t, 4> size{pod.demand.is_none() ? 0 : 1,
                                   gpu::pieces_in(pod.shape->requests, names), 0, 0};
  for (const ResourceAmount& request : pod.shape->requests) {
    if (request.resource == kCpu) size[2] = request.amount;
    if (request.resource == kMemory) size[3] = request.amount;
  }
  return size;
}

}  // namespace

bool is_larger(const WaitingPod& a, const WaitingPod& b, const ResourceNames& names) {
  return size_of(a, names) > size_of(b, names);
}

quota::Demand asked_like(const WaitingGroup& group, const WaitingPod& like) {
  quota::Demand demand{.pods = 0, .allowed = like.demand.allowed};
  const std::size_t together = std::min(group.min_count, group.members.size());
  for (std::size_t i = 0; i < together; ++i) {
    const quota::Demand& more = group.members[i].pod->demand;
    if (more.allowed == demand.allowed) quota::add(demand, more);
  }
  if (demand.is_none()) quota::add(demand, like.demand);
  return demand;
}

std::string missing_pods(const WaitingGroup& group) {
  if (group.members.size() >= group.min_count) return {};
  return fmt::format("{} of the {} pods that start together as group {} are there",
                     group.members.size(), group.min_count, group.name);
}

PodGroups::Key PodGroups::key_of(const WaitingGroup& group) {
  return {group.profile, pod_of(group).pod.metadata.namespace_, group.name};
}

bool PodGroups::holds_back(WaitingPod& pod, const PodGroup& named) {
  const auto found = groups_.find({pod.profile, pod.pod.metadata.namespace_, named.name});
  const bool has_begun = found != groups_.end() && !found->second.placed.empty();
  if (has_begun && found->second.start != nullptr) {
    // The start may be given up.
    found->second.start->came_late(pod.pod.metadata.uid);
  } else if (has_begun) {
    add_late(found->second, pod);
  }
  return !has_begun && !pod.is_late;
}

void PodGroups::add_late(Group& group, WaitingPod& pod) const {
  if (std::exchange(pod.is_late, true)) return;
  constexpr std::size_t kFew = 64;
  if (group.late.size() >= 2 * group.pruned_at + kFew) {
    std::erase_if(group.late, [this](const std::string& uid) {
      const PodRecord* record = world_.pods.find(uid);
      return record == nullptr || record->waiting() == nullptr;
    });
    group.pruned_at = group.late.size();
  }
  group.late.push_back(pod.pod.metadata.uid);
}

bool PodGroups::joins_starting_group(const WaitingPod& pod) const {
  if (starts_ == 0 || pod.pod.metadata.annotations.empty()) return false;
  const auto named = group_of(pod.pod);
  if (!named || !*named) return false;
  const auto found = groups_.find({pod.profile, pod.pod.metadata.namespace_, (*named)->name});
  return found != groups_.end() && found->second.start != nullptr;
}

bool PodGroups::is_full(const WaitingPod& pod, const PodGroup& named) const {
  const auto found = groups_.find({pod.profile, pod.pod.metadata.namespace_, named.name});
  if (found == groups_.end()) return false;
  if (const GroupStart* start = found->second.start.get()) {
    return start->size() >= start->min_count() + PodGroup::kMostPods;
  }
  if (found->second.waiting == nullptr) return false;
  return found->second.waiting->members.size() >= PodGroup::kMostPods;
}

bool PodGroups::has_started(const WaitingGroup& group) const {
  return !groups_.find(key_of(group))->second.placed.empty();
}

void PodGroups::join(WaitingPod& pod, const PodGroup& named, Time now) {
  queue_.remove(pod);
  Group& group = groups_[{pod.profile, pod.pod.metadata.namespace_, named.name}];
  if (group.waiting == nullptr) {
    group.waiting = std::make_unique<WaitingGroup>();
    group.waiting->is_group = true;
    group.waiting->name = named.name;
    group.waiting->profile = pod.profile;
    group.waiting->order.arrival = ++world_.arrivals;
    group.waiting->tenant = pod.tenant;
  }
  WaitingGroup& waiting = *group.waiting;
  queue_.remove(waiting);
  pod.group = &waiting;
  const auto behind =
      std::find_if(waiting.members.begin(), waiting.members.end(),
                   [&](const WaitingGroup::Member& each) { return pod.order < each.pod->order; });
  waiting.members.insert(behind, {.pod = &pod, .min_count = named.min_count});
  waiting.joined = now;
  renew(waiting);
  queue_.activate(waiting, QueueEvent::kUncounted);
}

void PodGroups::gather(Time now) {
  std::vector<WaitingPod*> pods;
  for (Entity* entity : queue_.entities()) {
    if (!entity->is_group && entity->place == QueuePlace::kActive) pods.push_back(&pod_of(*entity));
  }
  std::sort(pods.begin(), pods.end(),
            [](const WaitingPod* a, const WaitingPod* b) { return a->order < b->order; });
  for (WaitingPod* pod : pods) {
    if (pod->pod.metadata.annotations.empty()) continue;
    const auto named = group_of(pod->pod);
    if (named && *named && holds_back(*pod, **named) && !is_full(*pod, **named)) {
      join(*pod, **named, now);
    }
  }
}

void PodGroups::leave(WaitingPod& pod) {
  if (pod.group == nullptr) return;
  WaitingGroup& group = *std::exchange(pod.group, nullptr);
  const auto known = groups_.find(key_of(group));
  queue_.remove(group);
  std::erase_if(group.members, [&](const WaitingGroup::Member& each) { return each.pod == &pod; });
  pod.queue = waking_.queue_for(pod);
  if (group.members.empty()) return end_waiting(known);
  renew(group);
  queue_.activate(group, QueueEvent::kUncounted);
}

std::vector<WaitingPod*> PodGroups::disband(WaitingGroup& group) {
  const auto known = groups_.find(key_of(group));
  queue_.remove(group);
  std::vector<WaitingPod*> pods;
  for (const WaitingGroup::Member& member : group.members) {
    member.pod->group = nullptr;
    member.pod->queue = waking_.queue_for(*member.pod);
    pods.push_back(member.pod);
  }
  end_waiting(known);
  return pods;
}

WaitingGroup* PodGroups::find(std::uint32_t kind) const {
  const auto found = waiting_.find(kind);
  return found == waiting_.end() ? nullptr : found->second;
}

void PodGroups::end_waiting(Groups::iterator group) {
  waiting_.erase(group->second.waiting->kind);
  group->second.waiting.reset();
  forget_if_empty(group);
}

void PodGroups::begin_start(const std::string& uid, std::size_t min_count) {
  Group& group = of_placed_.at(uid)->second;
  group.start = std::make_unique<GroupStart>(min_count);
  group.failed = 0;
  ++starts_;
}

GroupStart* PodGroups::starting(const std::string& uid) const {
  if (starts_ == 0) return nullptr;
  const auto found = of_placed_.find(uid);
  return found == of_placed_.end() ? nullptr : found->second->second.start.get();
}

bool PodGroups::has_enough(const std::string& uid) const {
  const Group& group = of_placed_.at(uid)->second;
  return group.placed.size() >= group.start->min_count() + group.failed;
}

void PodGroups::failed(const std::string& uid) {
  Group& group = of_placed_.at(uid)->second;
  if (!group.start->has_failed(uid)) ++group.failed;
  group.start->failed(uid);
}

void PodGroups::end_start(const std::string& uid) {
  const std::unique_ptr<GroupStart> over = std::move(of_placed_.at(uid)->second.start);
  --starts_;
  for (const std::string& late : over->late()) {
    const PodRecord* pod = world_.pods.find(late);
    if (pod == nullptr || pod->state() != PodRecord::State::kPending) continue;
    const bool waits = pod->waiting()->place == QueuePlace::kParked ||
                       pod->waiting()->place == QueuePlace::kRefused;
    if (waits) queue_.activate(*pod->waiting(), QueueEvent::kUncounted);
  }
}

PodGroups::GroupId PodGroups::among_others(const std::string& uid) const {
  const auto found = of_placed_.find(uid);
  if (found == of_placed_.end() || found->second->second.placed.size() < 2) return nullptr;
  return &found->second->second;
}

void PodGroups::has_node(const k8s::Pod& pod, std::size_t profile) {
  const auto known = of_placed_.find(pod.metadata.uid);
  if (pod.metadata.annotations.empty() && known == of_placed_.end()) return;
  const auto named = group_of(pod);
  const bool names_one = named && *named;
  if (known != of_placed_.end()) {
    const auto& [key, of_known] = *known->second;
    const bool is_same = names_one && std::get<2>(key) == (*named)->name;
    if (is_same || of_known.start != nullptr) return;
    has_no_node(pod.metadata.uid);
  }
  if (!names_one) return;
  const auto group = groups_.try_emplace({profile, pod.metadata.namespace_, (*named)->name}).first;
  group->second.placed.insert(pod.metadata.uid);
  const GroupStart* start = group->second.start.get();
  if (start != nullptr && start->has_failed(pod.metadata.uid)) ++group->second.failed;
  of_placed_.emplace(pod.metadata.uid, group);
  // The group has started without it: at its next turn it is disbanded (PlaceGroup).
  WaitingGroup* const waiting = group->second.waiting.get();
  if (waiting == nullptr || waiting->place == QueuePlace::kActive) return;
  queue_.activate(*waiting, QueueEvent::kUncounted);
}

void PodGroups::has_no_node(const std::string& uid) {
  if (of_placed_.empty()) return;
  const auto placed = of_placed_.find(uid);
  if (placed == of_placed_.end()) return;
  const auto group = placed->second;
  of_placed_.erase(placed);
  group->second.placed.erase(uid);
  const GroupStart* start = group->second.start.get();
  if (start != nullptr && start->has_failed(uid)) --group->second.failed;
  forget_if_empty(group);
}

void PodGroups::was_not_bound(const std::string& uid) {
  if (of_placed_.empty()) return;
  const auto placed = of_placed_.find(uid);
  if (placed == of_placed_.end()) return;
  Group& group = placed->second->second;
  std::vector<std::string> late;
  if (group.placed.size() == 1) late = std::move(group.late);
  has_no_node(uid);
  for (const std::string& each : late) {
    const PodRecord* record = world_.pods.find(each);
    if (record == nullptr || record->waiting() == nullptr) continue;
    WaitingPod& pod = *record->waiting();
    pod.is_late = false;
    const bool waits = pod.place == QueuePlace::kParked || pod.place == QueuePlace::kRefused;
    if (waits) queue_.activate(pod, QueueEvent::kUncounted);
  }
}

void PodGroups::forget_if_empty(Groups::iterator group) {
  if (group->second.placed.empty() && group->second.waiting == nullptr) groups_.erase(group);
}

void PodGroups::renew(WaitingGroup& group) {
  const std::vector<WaitingGroup::Member>& members = group.members;
  group.pods = members.size();
  group.min_count = 1;
  group.order.priority = members.front().pod->order.priority;
  group.order.created = members.front().pod->order.created;
  std::vector<Time> waits_since;
  for (const auto& [pod, min_count] : members) {
    group.min_count = std::max(group.min_count, min_count);
    group.order.priority = std::min(group.order.priority, pod->order.priority);
    group.order.created = std::min(group.order.created, pod->order.created);
    waits_since.push_back(pod->waits_since);
  }
  const std::size_t together = std::min(group.min_count, members.size());
  // The group could have been placed since it had enough pods.
  const auto enough = waits_since.begin() + static_cast<std::ptrdiff_t>(together - 1);
  std::nth_element(waits_since.begin(), enough, waits_since.end());
  group.waits_since = *enough;

  group.largest = members.front().pod;
  for (const auto& [pod, min_count] : members) {
    if (is_larger(*pod, *group.largest, world_.names)) group.largest = pod;
  }
  // This demand decides the group's queue, its turn and its holds. Whether quota has room is asked
  // for each pod.
  quota::Demand demand = asked_like(group, *group.largest);
  // The demand has changed: what is held or stored for the old kind must not apply to it.
  if (group.kind == 0 || demand != group.demand) {
    waiting_.erase(group.kind);
    group.kind = kFirstKind + kinds_++;
    waiting_.emplace(group.kind, &group);
    group.postponed = false;
  }
  group.demand = std::move(demand);
  group.queue = waking_.queue_for(group);
}

}  // namespace sched
