// Entities that wait, each in exactly one place, and which of them has the next turn.
//
//   active    wait for their turn: priority, then age
//   backoff   their bind, or a step before it, failed; they become active after a while
//   parked    their kind has no room (parked_kinds.h)
//   refused   a constraint refuses them; woken by changes of the objects that it named
//             (refused_entities.h)
//   gated     have scheduling gates; leave when their pods change
//
// An entity that is put into a place leaves its previous place. Parked and refused entities are
// tried again after a long time without a wake-up. The queue depends on no nodes, plugins or
// quotas. It does not own the entities; they must be removed before they are destroyed. All
// operations are O(log entities).
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/queue/parked_kinds.h"
#include "scheduler/queue/refused_entities.h"
#include "scheduler/queue/timers.h"
#include "scheduler/queue/waiting_line.h"

#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace sched {

// What several queues store in one place, so that no caller has to ask each of them.
struct Roster {
  Timers timers;                                 // of entities in backoff, parked, refused
  std::array<std::size_t, kQueuePlaces> pods{};  // how many pods are in each place
  QueueEntries entries{};
  std::size_t apart = 0;  // how many entities are parked apart
  Changes changes;
  RefusedEntities refused;
  [[nodiscard]] std::size_t in(QueuePlace place) const {
    return pods[static_cast<std::size_t>(place)];
  }
};

class EntityQueue {
 public:
  // `keeps_line`: each entity's place in line is kept; this costs a little at every move. `roster`
  // outlives the queue.
  explicit EntityQueue(Roster& roster, bool keeps_line = false)
      : roster_(roster), keeps_line_(keeps_line) {}

  void activate(Entity& entity, QueueEvent event = QueueEvent::kPodAdd);
  void back_off(Entity& entity, Time until, QueueEvent event = QueueEvent::kAttemptFailure);
  // No node takes the entity now, nor those that are parked as alike with it.
  void park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at,
            QueueEvent event = QueueEvent::kAttemptFailure);
  void refuse(Entity& entity, std::vector<ObjectKey> awaits, Time try_anew_at,
              QueueEvent event = QueueEvent::kAttemptFailure);
  void gate(Entity& entity, QueueEvent event = QueueEvent::kPodAdd);
  void remove(Entity& entity);

  // Parked entities that wait for one of these may have room.
  void check_parked(WaitsFor opened) { parked_.check(opened); }
  // The same after nodes got more room; no node has more free than `free`.
  void check_parked_for_nodes(const NodeRoom& free) { parked_.check_nodes(free); }
  // The same for some of the kinds that wait for others (parked_kinds.h).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most) {
    return parked_.check_some_for_others(changes, most);
  }
  // What the parked entities of sleeping groups wait for (parked_kinds.h).
  [[nodiscard]] WaitsFor asleep() const { return parked_.asleep(); }
  // What a parked entity, or one that is alike with it, waits for. O(log groups).
  [[nodiscard]] WaitsFor waits_for(const Entity& parked) const { return parked_.waits_for(parked); }

  // The entity that has the next turn; null: none. If it is parked, the caller asks first whether
  // it has room, and calls settle() if it has none.
  [[nodiscard]] Entity* head() const;
  void settle(const Entity& entity, WaitsFor waits_for) {
    parked_.settle(entity, waits_for, roster_.changes);
  }
  // The head has its turn in the next round: it is left out of head() until then.
  void put_off(const Entity& head);
  void next_round();
  // This parked entity and those alike with it become active, so that each is looked at again.
  // O(their number).
  void rejoin(const Entity& entity);

  // One entity of each kind of parked entities; what holds for it holds for all of its kind.
  [[nodiscard]] std::vector<Entity*> parked_kinds() const { return parked_.one_of_each(); }
  // All that are alike with this parked entity, itself included. O(their number).
  [[nodiscard]] std::vector<Entity*> alike(const Entity& parked) const {
    return parked_.group_of(parked);
  }

  // The entities that wait for room or for the end of their back-off; empty without a line. Not in
  // line: gated and refused entities, those parked apart, and those that only a change of their
  // quota can give room.
  [[nodiscard]] const WaitingLine& line() const { return line_; }

 private:
  using ByOrder = std::map<QueueOrder, Entity*>;
  void enter(Entity& entity, QueuePlace place, QueueEvent event);
  void leave(Entity& entity);
  void set_in_line(Entity& entity, bool in_line);

  Roster& roster_;
  bool keeps_line_;
  WaitingLine line_;
  ByOrder active_;
  ByOrder put_off_;  // active, too, but in the next round
  ParkedKinds parked_;
};

}  // namespace sched
