// Entities that fit on no node, parked together by what makes them alike: profile and kind, and,
// where rules across nodes have a say, what these read besides.
//
// What holds for one entity of such a group holds for all, so a group is asked about once, not its
// entities. A group sleeps, by what it waits for, until something of that kind opens up; then it is
// worth a check, by its best entity. A check that finds no room puts the group to sleep again. Of a
// group that does find room only the best entity is taken, and the group stays worth a check for
// the next one: a hundred GPUs that are freed at once for a thousand entities alike cost a hundred
// and one checks. Groups that sleep cost nothing while others come and go.
//
// Those that wait for others, for whom rules across nodes have a say, may each have counts of their
// own, and there may be as many as there are pods. So of these only some are made worth a check at
// a time, those first that were asked about longest ago.
#pragma once

#include "scheduler/queue/entity.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace sched {

// How often something has changed that may help those who wait for others.
struct Changes {
  std::uint64_t others = 0;  // other pods and objects
  std::uint64_t nodes = 0;   // nodes have more room
};

class ParkedKinds {
 public:
  // The entity's kind has just been found to fit nowhere, after so many changes: its group needs no
  // check. O(log entities).
  void add(Entity& entity, WaitsFor waits_for, const Changes& after);
  void remove(const Entity& entity);

  // Quotas opened up for those who wait for one of these. O(groups that sleep so · log groups).
  void check(WaitsFor opened);
  // There is room on nodes, so much on any of them at most: for the groups that wait for nodes and
  // for no others, unless that is too little. O(groups that sleep so + those of them that are worth
  // a check then · log groups).
  void check_nodes(const NodeRoom& free);
  // So many things have changed for the groups that wait for others. Of those that were not asked
  // about since other pods and objects changed, so many at most, and of those that were not since
  // nodes have more room; how many that is. O(their number · log groups).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most);
  // The same as check() for the group of this entity alone.
  void check_group_of(const Entity& entity, WaitsFor opened);
  // The entity whose turn it would be among the groups worth a check; null: none.
  [[nodiscard]] Entity* first_to_check() const;
  // The group of this entity fits nowhere, after so many changes, and waits for this.
  void settle(const Entity& entity, WaitsFor waits_for, const Changes& after);

  // What some group sleeps for.
  [[nodiscard]] WaitsFor asleep() const;
  // The entities that are alike with this one, itself among them, the best first.
  [[nodiscard]] std::vector<Entity*> group_of(const Entity& entity) const;
  // One entity of each group, the best of its group; the groups in no order that means anything.
  [[nodiscard]] std::vector<Entity*> one_of_each() const;

 private:
  struct Group {
    std::map<QueueOrder, Entity*> members;  // not empty
    WaitsFor waits_for = 0;                 // any of its entities
    bool to_check = false;                  // else it sleeps
    // Where it is among those that sleep for the same, by bit.
    std::array<std::size_t, kWaitsForBits> asleep_at{};
    // Where it waits for others: its place among these, and what had changed then.
    std::uint64_t since = 0;
    Changes after{};
  };
  using Key = std::tuple<std::size_t, std::uint32_t, Apart>;
  static Key key_of(const Entity& entity) { return {entity.profile, entity.kind, entity.apart}; }
  static const QueueOrder& best(const Group& group) { return group.members.begin()->first; }
  // Worth a check from now on; asleep from now on, for `waits_for`.
  void rouse(Group& group);
  void lull(Group& group, WaitsFor waits_for, const Changes& after);
  // Nowhere, until one of the above.
  void take_out(Group& group);

  std::map<Key, Group> groups_;
  std::map<QueueOrder, Group*> to_check_;  // by the group's best entity
  // By the bit of what they sleep for. Their order shows nowhere. What decides whether a group is
  // worth a check stands beside it, since there may be very many.
  struct Asleep {
    Group* group = nullptr;
    NodeRoom least_room;  // of its entities, where they wait for nodes alone
  };
  std::array<std::vector<Asleep>, kWaitsForBits> asleep_;
  // Those that wait for others, and those of them that wait for nodes; they are not in the above
  // for either. The one that was asked about longest ago comes first.
  using ByAge = std::map<std::uint64_t, Group*>;
  ByAge for_others_;
  ByAge for_nodes_;
  std::uint64_t lulled_ = 0;
};

}  // namespace sched
