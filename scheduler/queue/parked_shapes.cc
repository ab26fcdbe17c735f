#include "scheduler/queue/parked_shapes.h"

#include <bit>

namespace sched {
namespace {

// Calls visit(index) for each bit that is set.
template <typename Visit>
void for_each_bit(WaitsFor bits, Visit&& visit) {
  for (std::size_t bit = 0; bit < kWaitsForBits; ++bit) {
    if ((bits & 1U << bit) != 0) visit(bit);
  }
}

}  // namespace

void ParkedShapes::add(WaitingPod& pod, WaitsFor waits_for) {
  Group& group = groups_[key_of(pod)];
  const auto all = static_cast<WaitsFor>(group.waits_for | waits_for);
  const bool sleeps_so = !group.pods.empty() && !group.to_check && group.waits_for == all;
  if (!sleeps_so) take_out(group);
  group.pods.emplace(pod.order, &pod);
  if (!sleeps_so) lull(group, all);
}

void ParkedShapes::remove(const WaitingPod& pod) {
  const auto found = groups_.find(key_of(pod));
  Group& group = found->second;
  if (group.pods.size() == 1) {
    take_out(group);
    groups_.erase(found);
    return;
  }
  if (group.to_check) to_check_.erase(best(group));
  group.pods.erase(pod.order);
  if (group.to_check) to_check_.emplace(best(group), &group);
}

std::size_t ParkedShapes::check(WaitsFor opened) {
  std::size_t roused = 0;
  for_each_bit(opened, [&](std::size_t bit) {
    for (; !asleep_[bit].empty(); ++roused) rouse(*asleep_[bit].back().group);
  });
  return roused;
}

void ParkedShapes::check_nodes(const NodeRoom& free) {
  constexpr auto kBit = static_cast<std::size_t>(std::countr_zero(kWaitsForNodes));
  // From the back: where one goes, the last one, which was looked at, comes in its place.
  for (std::size_t i = asleep_[kBit].size(); i-- > 0;) {
    if (free.holds(asleep_[kBit][i].least_room)) rouse(*asleep_[kBit][i].group);
  }
}

void ParkedShapes::check_group_of(const WaitingPod& pod, WaitsFor opened) {
  Group& group = groups_.find(key_of(pod))->second;
  if ((group.waits_for & opened) != 0) rouse(group);
}

WaitingPod* ParkedShapes::first_to_check() const {
  return to_check_.empty() ? nullptr : to_check_.begin()->second->pods.begin()->second;
}

void ParkedShapes::settle(const WaitingPod& pod, WaitsFor waits_for) {
  Group& group = groups_.find(key_of(pod))->second;
  take_out(group);
  // The pods behind the one that was asked about may wait for their turn besides.
  lull(group, static_cast<WaitsFor>(waits_for | (group.waits_for & kWaitsForTurn)));
}

WaitsFor ParkedShapes::asleep() const {
  WaitsFor all = 0;
  for (std::size_t bit = 0; bit < kWaitsForBits; ++bit) {
    if (!asleep_[bit].empty()) all = static_cast<WaitsFor>(all | 1U << bit);
  }
  return all;
}

std::vector<WaitingPod*> ParkedShapes::group_of(const WaitingPod& pod) const {
  std::vector<WaitingPod*> alike;
  for (const auto& [order, each] : groups_.find(key_of(pod))->second.pods) alike.push_back(each);
  return alike;
}

std::vector<WaitingPod*> ParkedShapes::one_of_each() const {
  std::vector<WaitingPod*> all;
  for (const auto& [key, group] : groups_) all.push_back(group.pods.begin()->second);
  return all;
}

void ParkedShapes::rouse(Group& group) {
  take_out(group);
  group.to_check = true;
  to_check_.emplace(best(group), &group);
}

void ParkedShapes::lull(Group& group, WaitsFor waits_for) {
  group.waits_for = waits_for;
  // What others do may help it on any node.
  const bool for_others = (waits_for & kWaitsForOthers) != 0;
  const NodeRoom least = for_others ? NodeRoom{} : group.pods.begin()->second->least_room;
  for_each_bit(waits_for, [&](std::size_t bit) {
    group.asleep_at[bit] = asleep_[bit].size();
    asleep_[bit].push_back({.group = &group, .least_room = least});
  });
}

void ParkedShapes::take_out(Group& group) {
  if (group.to_check) {
    group.to_check = false;
    to_check_.erase(best(group));
  } else {
    for_each_bit(group.waits_for, [&](std::size_t bit) {
      const Asleep last = asleep_[bit].back();
      last.group->asleep_at[bit] = group.asleep_at[bit];
      asleep_[bit][group.asleep_at[bit]] = last;
      asleep_[bit].pop_back();
    });
  }
}

}  // namespace sched
