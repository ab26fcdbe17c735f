// Entities that wait, each in exactly one place, and whose turn it is.
//
//   active    wait for their turn: priority, then age
//   backoff   their bind failed; they come back after a while
//   parked    their kind has no room (parked_kinds.h)
//   refused   a constraint objects to them; woken by changes of the objects that it named
//   gated     have scheduling gates; leave when their pods change
//
// An entity that is put somewhere leaves the place where it was. Parked and refused entities are
// tried anew when they have waited long without being woken. The queue knows neither nodes nor
// plugins nor quotas; it borrows the entities, which must be removed before they die. All
// operations are O(log entities).
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/queue/parked_kinds.h"
#include "scheduler/queue/timers.h"
#include "scheduler/queue/waiting_line.h"

#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace sched {

// What several queues keep together, so that it need not be asked of each.
struct Roster {
  Timers timers;                                 // of entities in backoff, parked, refused
  std::array<std::size_t, kQueuePlaces> pods{};  // how many pods are in each place
  std::size_t apart = 0;                         // how many entities are parked apart
  Changes changes;
  // Refused entities of all queues, by what they wait for.
  std::map<ObjectKey, std::map<QueueOrder, Entity*>> refused;
  [[nodiscard]] std::size_t in(QueuePlace place) const {
    return pods[static_cast<std::size_t>(place)];
  }
};

class EntityQueue {
 public:
  // With a line, its entities know their places; it costs a little at every move. `roster` outlives
  // the queue.
  explicit EntityQueue(Roster& roster, bool keeps_line = false)
      : roster_(roster), keeps_line_(keeps_line) {}

  void activate(Entity& entity);
  void back_off(Entity& entity, Time until);
  // No node takes it, as of now; those that are like it so far neither.
  void park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at);
  void refuse(Entity& entity, std::vector<ObjectKey> awaits, Time try_anew_at);
  void gate(Entity& entity);
  void remove(Entity& entity);

  // Parked entities that wait for one of these may have room.
  void check_parked(WaitsFor opened) { parked_.check(opened); }
  // The same where there is room on nodes, so much on any of them at most.
  void check_parked_for_nodes(const NodeRoom& free) { parked_.check_nodes(free); }
  // The same of some kinds of those that wait for others (parked_kinds.h).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most) {
    return parked_.check_some_for_others(changes, most);
  }
  // What some parked entities wait for without being worth a check.
  [[nodiscard]] WaitsFor asleep() const { return parked_.asleep(); }

  // The entity whose turn it is; null: none. One that is parked is to be asked about first, and
  // settled if it has no room.
  [[nodiscard]] Entity* head() const;
  void settle(const Entity& entity, WaitsFor waits_for) {
    parked_.settle(entity, waits_for, roster_.changes);
  }
  // This parked entity and those like it become active: each is to hear of something. O(their
  // number).
  void rejoin(const Entity& entity);

  // One of each kind of parked entities; what holds of it holds of all of its kind.
  [[nodiscard]] std::vector<Entity*> parked_kinds() const { return parked_.one_of_each(); }

  // The entities that wait for room or for the end of their back-off; empty without a line. Not in
  // line are those that wait for something else: gated, refused, parked apart, or not to be helped.
  [[nodiscard]] const WaitingLine& line() const { return line_; }

 private:
  using ByOrder = std::map<QueueOrder, Entity*>;
  void enter(Entity& entity, QueuePlace place);
  void leave(Entity& entity);
  void set_in_line(Entity& entity, bool in_line);

  Roster& roster_;
  bool keeps_line_;
  WaitingLine line_;
  ByOrder active_;
  ParkedKinds parked_;
};

}  // namespace sched
