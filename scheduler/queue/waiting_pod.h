// A pod of ours from when it is first seen until it is bound, with what scheduling it needs.
//
// It belongs to the pod's record; the queue borrows it and writes down in it where it keeps it.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/types.h"
#include "scheduler/cluster/node_room.h"
#include "scheduler/cluster/pod_classes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/framework/profile.h"
#include "scheduler/queue/refused_binds.h"
#include "scheduler/quota/demand.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace sched {

// One of several queues (queues.h).
using QueueId = std::uint32_t;
inline constexpr QueueId kMainQueue = 0;

// What a parked pod waits for, as bits.
using WaitsFor = std::uint8_t;
inline constexpr WaitsFor kWaitsForNodes = 1U << 0;   // room on some node
inline constexpr WaitsFor kWaitsForQuota = 1U << 1;   // room in its quota
inline constexpr WaitsFor kWaitsForTurn = 1U << 2;    // the pods before it in line
inline constexpr WaitsFor kWaitsForChange = 1U << 3;  // of its quota, which can never give so much
inline constexpr WaitsFor kWaitsForOthers = 1U << 4;  // other pods, elsewhere; or other objects
inline constexpr std::size_t kWaitsForBits = 5;

// Which of the queue's parts holds a pod.
enum class QueuePlace : std::uint8_t {
  kNone,     // in no part: assumed
  kActive,   // waits for its turn
  kBackoff,  // waits for `ready_at`
  kParked,   // no node takes it; waits for one that does
  kRefused,  // a constraint objects; waits for a change that may lift the objection
  kGated,    // has scheduling gates
};
inline constexpr std::size_t kQueuePlaces = 6;

// Whose turn it is: the pod of higher priority, then the older one, then the one seen first.
struct QueueOrder {
  std::int32_t priority = 0;
  Time created{};
  std::uint64_t arrival = 0;  // different for all pods, so the order is total

  // Less means earlier turn.
  friend bool operator<(const QueueOrder& a, const QueueOrder& b) {
    return std::tie(b.priority, a.created, a.arrival) < std::tie(a.priority, b.created, b.arrival);
  }
  friend bool operator==(const QueueOrder&, const QueueOrder&) = default;
};

// What sets a parked pod apart from others of its shape, since rules across nodes rule nodes out
// for it: what helps those need not help it.
struct Apart {
  // Of both 0: nothing does.
  std::uint64_t pod_class = 0;  // its class's id and 1: only pods of this class are like it
  std::uint64_t arrival = 0;    // its own: no other pod is

  [[nodiscard]] bool any() const { return pod_class != 0 || arrival != 0; }
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

struct WaitingPod {
  k8s::Pod pod;
  std::size_t profile = 0;
  ShapeRef shape;
  PodClassRef pod_class;
  Constraints constraints;     // those that concern it
  quota::Demand demand;        // what it would be charged for
  QueueId queue = kMainQueue;  // that of its quota; changes only while it is in no place
  QueueOrder order;
  Time queued_since{};  // when this process saw it first
  // Since when it might have been placed; whose patience is measured by it (quota::Options,
  // hold_after) has it from the API server as far as that tells, so that another process goes on
  // where this one ends.
  Time waits_since{};
  int attempts = 0;
  int failed_binds = 0;  // in a row
  RefusedBinds refused_binds;

  // Kept by the queue.
  QueuePlace place = QueuePlace::kNone;
  Time ready_at{};          // kBackoff: until when; kParked, kRefused: tried anew by then
  ChangeMask wakes_on = 0;  // kRefused
  Apart apart;              // kParked
  NodeRoom least_room;      // kParked: no node with less takes it; the same for all of its shape
  bool in_line = false;
  // Its turn is a borrower's: no node has room for it where it is within its quota's guarantee.
  bool must_borrow = false;
  std::size_t index = 0;  // among all waiting pods
  // What a constraint said last, so that a woken pod need not be told again. Empty: whatever is
  // said next is worth telling.
  std::string last_refusal;
};

}  // namespace sched
