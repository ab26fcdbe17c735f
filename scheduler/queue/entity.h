// What waits for a turn: a pod, or several that are decided on together. It has one turn, is
// charged to one quota, and waits for one reason.
//
// The queue reads of it what is here, and writes down where it keeps it. Whose pods they are is for
// those who make entities to know (engine/world/waiting_pod.h).
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/cluster/node_room.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/quota/demand.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace sched {

// One of several queues (queues.h).
using QueueId = std::uint32_t;
inline constexpr QueueId kMainQueue = 0;

// What a parked entity waits for, as bits.
using WaitsFor = std::uint8_t;
inline constexpr WaitsFor kWaitsForNodes = 1U << 0;   // room on some node
inline constexpr WaitsFor kWaitsForQuota = 1U << 1;   // room in its quota
inline constexpr WaitsFor kWaitsForTurn = 1U << 2;    // those before it in line
inline constexpr WaitsFor kWaitsForChange = 1U << 3;  // of its quota, which can never give so much
inline constexpr WaitsFor kWaitsForOthers = 1U << 4;  // other pods, elsewhere; or other objects
inline constexpr std::size_t kWaitsForBits = 5;

// Which of the queue's parts holds an entity.
enum class QueuePlace : std::uint8_t {
  kNone,     // in no part: assumed
  kActive,   // waits for its turn
  kBackoff,  // waits for `ready_at`
  kParked,   // no node takes it; waits for one that does
  kRefused,  // a constraint objects; waits for objects of which a change may lift the objection
  kGated,    // has scheduling gates
};
inline constexpr std::size_t kQueuePlaces = 6;

// Whose turn it is: of higher priority, then the older one, then the one seen first.
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

// What sets a parked entity apart from others of its kind, since rules across nodes rule nodes out
// for it: what helps those need not help it.
struct Apart {
  // All 0: nothing does.
  std::uint64_t pod_class = 0;  // its class's id and 1: only those of this class are like it
  std::uint64_t besides = 0;    // of the class those alone of which the rules read the same besides
  std::uint64_t arrival = 0;    // its own: no other is

  [[nodiscard]] bool any() const { return pod_class != 0 || arrival != 0; }
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

struct Entity {
  std::size_t pods = 1;
  // Those of one profile and kind ask for the same, so where one finds no node none does. Of a pod
  // it is its shape's number.
  std::size_t profile = 0;
  std::uint32_t kind = 0;
  quota::Demand demand;        // what all of it would be charged for
  QueueId queue = kMainQueue;  // that of its quota; changes only while it is in no place
  QueueOrder order;
  // Since when it might have been placed; whose patience is measured by it (quota::Options,
  // hold_after) has it from the API server as far as that tells, so that another process goes on
  // where this one ends.
  Time waits_since{};

  // Kept by the queue.
  QueuePlace place = QueuePlace::kNone;
  Time ready_at{};                // kBackoff: until when; kParked, kRefused: tried anew by then
  std::vector<ObjectKey> awaits;  // kRefused
  Apart apart;                    // kParked
  NodeRoom least_room;  // kParked: no node with less takes it; the same for all of its kind
  bool in_line = false;
  // Its turn is a borrower's: no node has room for it where it is within its quota's guarantee.
  bool must_borrow = false;
  std::size_t index = 0;  // among all that wait
  // What a constraint said last, so that it need not be told again when it is woken. Empty:
  // whatever is said next is worth telling.
  std::string last_refusal;
};

}  // namespace sched
