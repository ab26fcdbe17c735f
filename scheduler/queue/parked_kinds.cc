#include "scheduler/queue/parked_kinds.h"

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

// Those bits of a sleeping group under which asleep_ has it; for_others_ and for_nodes_ have the
// rest.
WaitsFor by_bit(WaitsFor waits_for) {
  constexpr WaitsFor kByAge = kWaitsForOthers | kWaitsForNodes;
  const bool for_others = (waits_for & kWaitsForOthers) != 0;
  return for_others ? static_cast<WaitsFor>(waits_for & ~kByAge) : waits_for;
}

}  // namespace

void ParkedKinds::add(Entity& entity, WaitsFor waits_for, const Changes& after) {
  Group& group = groups_[key_of(entity)];
  const auto all = static_cast<WaitsFor>(group.waits_for | waits_for);
  const bool sleeps_so = !group.members.empty() && !group.to_check && group.waits_for == all;
  if (!sleeps_so) take_out(group);
  group.members.emplace(entity.order, &entity);
  if (!sleeps_so) put_to_sleep(group, all, after);
}

void ParkedKinds::remove(const Entity& entity) {
  const auto found = groups_.find(key_of(entity));
  Group& group = found->second;
  if (group.members.size() == 1) {
    take_out(group);
    groups_.erase(found);
    return;
  }
  if (group.to_check) to_check(group).erase(best(group));
  group.members.erase(entity.order);
  if (group.to_check) to_check(group).emplace(best(group), &group);
}

void ParkedKinds::check(WaitsFor opened) {
  for_each_bit(opened, [&](std::size_t bit) {
    while (!asleep_[bit].empty()) mark(*asleep_[bit].back().group);
  });
}

void ParkedKinds::check_nodes(const NodeRoom& free) {
  constexpr auto kBit = static_cast<std::size_t>(std::countr_zero(kWaitsForNodes));
  // From the back: mark() replaces an entry by the last one, which was looked at already.
  for (std::size_t i = asleep_[kBit].size(); i-- > 0;) {
    if (free.holds(asleep_[kBit][i].least_room)) mark(*asleep_[kBit][i].group);
  }
}

std::size_t ParkedKinds::check_some_for_others(const Changes& changes, std::size_t most) {
  std::size_t marked = 0;
  const auto mark_some = [&](ByAge& groups, std::uint64_t Changes::*what) {
    for (std::size_t some = 0; some < most && !groups.empty(); ++some, ++marked) {
      Group& oldest = *groups.begin()->second;
      if (oldest.after.*what >= changes.*what) return;
      mark(oldest);
    }
  };
  mark_some(for_others_, &Changes::others);
  mark_some(for_nodes_, &Changes::nodes);
  return marked;
}

void ParkedKinds::check_group_of(const Entity& entity, WaitsFor opened) {
  Group& group = groups_.find(key_of(entity))->second;
  if ((group.waits_for & opened) != 0) mark(group);
}

void ParkedKinds::put_off(const Entity& entity) {
  Group& group = groups_.find(key_of(entity))->second;
  to_check_.erase(best(group));
  group.is_put_off = true;
  put_off_.emplace(best(group), &group);
}

void ParkedKinds::next_round() {
  for (const auto& [order, group] : put_off_) group->is_put_off = false;
  to_check_.merge(put_off_);
}

Entity* ParkedKinds::first_to_check() const {
  return to_check_.empty() ? nullptr : to_check_.begin()->second->members.begin()->second;
}

void ParkedKinds::settle(const Entity& entity, WaitsFor waits_for, const Changes& after) {
  Group& group = groups_.find(key_of(entity))->second;
  take_out(group);
  // The entities behind the one that was checked may also wait for their turn.
  put_to_sleep(group, static_cast<WaitsFor>(waits_for | (group.waits_for & kWaitsForTurn)), after);
}

WaitsFor ParkedKinds::asleep() const {
  WaitsFor all = 0;
  for (std::size_t bit = 0; bit < kWaitsForBits; ++bit) {
    if (!asleep_[bit].empty()) all = static_cast<WaitsFor>(all | 1U << bit);
  }
  if (!for_others_.empty()) all |= kWaitsForOthers;
  if (!for_nodes_.empty()) all |= kWaitsForNodes;
  return all;
}

std::vector<Entity*> ParkedKinds::group_of(const Entity& entity) const {
  std::vector<Entity*> alike;
  for (const auto& [order, each] : groups_.find(key_of(entity))->second.members)
    alike.push_back(each);
  return alike;
}

std::vector<Entity*> ParkedKinds::one_of_each() const {
  std::vector<Entity*> all;
  for (const auto& [key, group] : groups_) all.push_back(group.members.begin()->second);
  return all;
}

void ParkedKinds::mark(Group& group) {
  take_out(group);
  group.to_check = true;
  to_check_.emplace(best(group), &group);
}

void ParkedKinds::put_to_sleep(Group& group, WaitsFor waits_for, const Changes& after) {
  group.waits_for = waits_for;
  if ((waits_for & kWaitsForOthers) != 0) {
    group.since = ++slept_;
    group.after = after;
    for_others_.emplace(group.since, &group);
    if ((waits_for & kWaitsForNodes) != 0) for_nodes_.emplace(group.since, &group);
  }
  const NodeRoom& least = group.members.begin()->second->least_room;
  for_each_bit(by_bit(waits_for), [&](std::size_t bit) {
    group.asleep_at[bit] = asleep_[bit].size();
    asleep_[bit].push_back({.group = &group, .least_room = least});
  });
}

void ParkedKinds::take_out(Group& group) {
  if (group.to_check) {
    group.to_check = false;
    to_check(group).erase(best(group));
    group.is_put_off = false;
  } else {
    if ((group.waits_for & kWaitsForOthers) != 0) {
      for_others_.erase(group.since);
      for_nodes_.erase(group.since);
    }
    for_each_bit(by_bit(group.waits_for), [&](std::size_t bit) {
      const Asleep last = asleep_[bit].back();
      last.group->asleep_at[bit] = group.asleep_at[bit];
      asleep_[bit][group.asleep_at[bit]] = last;
      asleep_[bit].pop_back();
    });
  }
}

}  // namespace sched
