// What waits for a turn: a pod, or several pods that are decided on together. An entity has one
// turn, is charged to one quota, and waits for one reason.
//
// The queue reads only the fields below, and writes into the entity where it is. Which pods the
// entity stands for is known where entities are made (engine/world/waiting_pod.h).
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/cluster/node_room.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/standing.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sched {

// One of several queues (queues.h).
using QueueId = std::uint32_t;
inline constexpr QueueId kMainQueue = 0;

// What a parked entity waits for, as bits.
using WaitsFor = std::uint8_t;
inline constexpr WaitsFor kWaitsForNodes = 1U << 0;  // room on some node
inline constexpr WaitsFor kWaitsForQuota = 1U << 1;  // room in its quota
inline constexpr WaitsFor kWaitsForTurn = 1U << 2;   // the entities before it in line
inline constexpr WaitsFor kWaitsForChange =
    1U << 3;  // a change of its quota, which can never give so much
inline constexpr WaitsFor kWaitsForOthers = 1U << 4;  // other pods, on any node; or other objects
// A new node, or changed facts of a node: with their present facts no node takes it, even when
// empty. Only in the main queue, because the turns of quotas depend on what wakes their pods.
inline constexpr WaitsFor kWaitsForFacts = 1U << 5;
inline constexpr std::size_t kWaitsForBits = 6;

// Which of the queue's parts holds an entity.
enum class QueuePlace : std::uint8_t {
  kNone,     // in no part: assumed
  kActive,   // waits for its turn
  kBackoff,  // waits for `ready_at`
  kParked,   // no node takes it; waits for one that does
  kRefused,  // a constraint refuses it; waits for changes of objects that may lift that, or, woken
             // by one, to be tried again
  kGated,    // has scheduling gates
};
inline constexpr std::size_t kQueuePlaces = 6;

// Why an entity enters a place; for metrics.
enum class QueueEvent : std::uint8_t {
  kPodAdd,
  kPodUpdate,
  kAttemptFailure,  // an attempt to place it, or its bind, has failed
  kBackoffComplete,
  kUnschedulableTimeout,  // it has waited long without a change that might help it
  kObjectChange,          // of an object that it waits for
  kQuotaChange,           // of its quota, or of what is held in it
  kUncounted,             // pods have joined or left the group; or it has its turn later
};
inline constexpr std::size_t kQueueEvents = 7;  // without kUncounted
// How many pods have entered each place ever, by event.
using QueueEntries = std::array<std::array<std::uint64_t, kQueueEvents>, kQueuePlaces>;

// Order of turns: higher priority first, then the older entity, then the one that was seen first.
struct QueueOrder {
  std::int32_t priority = 0;
  Time created{};
  std::uint64_t arrival = 0;  // different for all, so the order is total

  // Less means earlier turn.
  friend bool operator<(const QueueOrder& a, const QueueOrder& b) {
    return std::tie(b.priority, a.created, a.arrival) < std::tie(a.priority, b.created, b.arrival);
  }
  friend bool operator==(const QueueOrder&, const QueueOrder&) = default;
};

// What sets a parked entity apart from others of its kind: rules across nodes rule nodes out for
// it, or something is held for it. A change that gives one room need not give the others room. They
// are alike if all fields are equal.
struct Apart {
  // All 0: nothing sets it apart. any(): rules across nodes do.
  std::uint64_t pod_class = 0;  // id of its class + 1: it is alike only with its class
  std::uint64_t besides = 0;    // a hash of what else rules read of it
  std::uint64_t tenant = 0;     // its tenant: no tenant can make its hashes equal those of others
  std::uint64_t arrival = 0;    // its own: it is alike with no other entity
  // Its own, too: something is held for it, so it has room where others have none. Rules do not
  // matter to it, and it stays in line.
  std::uint64_t held_for = 0;

  [[nodiscard]] bool any() const { return pod_class != 0 || besides != 0 || arrival != 0; }
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

struct Entity {
  std::size_t pods = 1;   // changes only while the entity is in no place
  bool is_group = false;  // of pods that are decided on together; else one pod
  // Entities of one profile and kind ask for the same: if no node takes one, no node takes the
  // others. For a pod, the kind is the number of its shape; a group has one of its own.
  std::size_t profile = 0;
  std::uint32_t kind = 0;
  quota::Demand demand;        // what the whole entity would be charged for
  QueueId queue = kMainQueue;  // its quota's queue; changes only while the entity is in no place
  // A hash of its namespace's name: the tenant that turns are counted for (queues.h).
  std::uint64_t tenant = 0;
  QueueOrder order;
  // Since when the entity could have been placed. The time after which quota and a node are held is
  // measured from it (quota::Options, hold_after). It is read from the API server if it is stored
  // there, so that the wait continues in another process.
  Time waits_since{};

  // Whether it asks for more than its quota's guarantee, and when that was last so: before that
  // nothing could be held for it.
  bool beyond_guarantee = false;
  Time beyond_until{};
  // Its last attempt ended because others of its Strict quota have their turns first, and that is
  // what its message says. So it is tried once its turn comes, whether there is room or not.
  bool told_of_turn = false;
  // Its message says that its quota has no room for it. So it is tried once its quota has room,
  // even if no node has: then its message says what it waits for now, and others may be evicted for
  // it.
  bool told_over_quota = false;
  // Its last attempt ended because no node can ever take it, or one of its pods, as it is written.
  bool never = false;

  // Written by the queue.
  QueuePlace place = QueuePlace::kNone;
  Time ready_at{};                // kBackoff: until when; kParked, kRefused: when it is tried again
  std::vector<ObjectKey> awaits;  // kRefused
  bool woken = false;             // kRefused: an object that it awaited has changed
  Apart apart;                    // kParked
  NodeRoom least_room;            // kParked: no node with less takes it; equal for all of its kind
  bool in_line = false;
  // Where its quota stands among those that borrow what some node has room for. nullopt: that was
  // not needed, or is not known any more.
  std::optional<quota::Standing> borrows_at;
  std::size_t index = 0;  // among all entities that wait
  // The constraint's last refusal, so that an equal one is not reported again after a wake-up.
  // Empty: the next refusal is reported.
  std::string last_refusal;
};

}  // namespace sched
