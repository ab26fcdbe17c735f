// Entities that fit on no node, parked in groups of entities that are alike: of one profile and
// kind, and equal in what rules across nodes read of them (Entity::apart).
//
// What holds for one entity of a group holds for all, so a group is checked once, not once for each
// entity. A group sleeps until there may be more room of a sort that it waits for (WaitsFor). Then
// it is to be checked, by its best entity. A check that finds no room puts the group to sleep
// again. If a check finds room, only the best entity is taken, and the group is still to be checked
// for the next one: a hundred GPUs that are freed at once for a thousand entities that are alike
// cost a hundred and one checks. Sleeping groups cost nothing while others come and go.
//
// Groups that wait for others are those for which rules across nodes count. Each may have counts of
// its own, and there may be as many groups as pods. So only some of them are marked for a check at
// a time, first those with the oldest last check.
#pragma once

#include "scheduler/queue/entity.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace sched {

// How often something has changed that may give room to groups that wait for others.
struct Changes {
  std::uint64_t others = 0;  // other pods and objects
  std::uint64_t nodes = 0;   // nodes have more room
};

class ParkedKinds {
 public:
  // The entity's kind has just been found to fit nowhere, after the changes `after`: its group
  // needs no check. O(log entities).
  void add(Entity& entity, WaitsFor waits_for, const Changes& after);
  void remove(const Entity& entity);

  // Marks for a check the groups that wait for one of these. O(those groups · log groups).
  void check(WaitsFor opened);
  // The same after nodes got more room, for the groups that wait for nodes and not for others. No
  // node has more free than `free`; groups that need more sleep on. O(groups that sleep for nodes
  // alone + those marked · log groups).
  void check_nodes(const NodeRoom& free);
  // Marks for a check at most `most` groups that wait for others and were not checked since
  // changes.others, and at most `most` that were not checked since changes.nodes. Returns how many.
  // O(their number · log groups).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most);
  // The same as check() for this entity's group alone.
  void check_group_of(const Entity& entity, WaitsFor opened);
  // The group of this entity, which is to be checked, is checked in the next round.
  void put_off(const Entity& entity);
  void next_round();
  // The entity with the first turn among the groups to be checked in this round; null: none.
  [[nodiscard]] Entity* first_to_check() const;
  // The group of this entity fits nowhere, after the changes `after`, and sleeps for `waits_for`.
  void settle(const Entity& entity, WaitsFor waits_for, const Changes& after);

  // What any of the entity's group waits for, or waited for before it was to be checked.
  [[nodiscard]] WaitsFor waits_for(const Entity& entity) const {
    return groups_.find(key_of(entity))->second.waits_for;
  }
  // What the sleeping groups wait for, taken together.
  [[nodiscard]] WaitsFor asleep() const;
  // The entities that are alike with this one, itself included, the best first.
  [[nodiscard]] std::vector<Entity*> group_of(const Entity& entity) const;
  // One entity of each group, the best of its group; the order of the groups means nothing.
  [[nodiscard]] std::vector<Entity*> one_of_each() const;

 private:
  struct Group {
    std::map<QueueOrder, Entity*> members;  // not empty
    WaitsFor waits_for = 0;                 // what any of its entities waits for
    bool to_check = false;                  // else it sleeps
    bool is_put_off = false;                // to be checked in the next round
    // Its index among the groups that sleep for the same, by bit.
    std::array<std::size_t, kWaitsForBits> asleep_at{};
    // If it waits for others: its key in for_others_, and the changes seen at its last check.
    std::uint64_t since = 0;
    Changes after{};
  };
  using Key = std::tuple<std::size_t, std::uint32_t, Apart>;
  static Key key_of(const Entity& entity) { return {entity.profile, entity.kind, entity.apart}; }
  static const QueueOrder& best(const Group& group) { return group.members.begin()->first; }
  // To be checked from now on; asleep from now on, for `waits_for`.
  void mark(Group& group);
  void put_to_sleep(Group& group, WaitsFor waits_for, const Changes& after);
  // Neither asleep nor to be checked, until one of the above is called.
  void take_out(Group& group);

  std::map<Key, Group> groups_;
  // To be checked in this round and in the next, by the group's best entity.
  using ByBest = std::map<QueueOrder, Group*>;
  ByBest& to_check(const Group& group) { return group.is_put_off ? put_off_ : to_check_; }
  ByBest to_check_;
  ByBest put_off_;
  // Sleeping groups by the bit of what they wait for; their order has no effect. What decides
  // whether a group is to be checked is stored beside its pointer, because there may be very many
  // groups.
  struct Asleep {
    Group* group = nullptr;
    NodeRoom least_room;  // of its entities, if they wait for nodes alone
  };
  std::array<std::vector<Asleep>, kWaitsForBits> asleep_;
  // Groups that wait for others, and those of them that wait for nodes, too; asleep_ has neither
  // under these two bits. The group with the oldest last check comes first.
  using ByAge = std::map<std::uint64_t, Group*>;
  ByAge for_others_;
  ByAge for_nodes_;
  std::uint64_t slept_ = 0;
};

}  // namespace sched
