// A pod of ours from when it is first seen until it is bound, with what scheduling it needs.
//
// It belongs to the pod's record; the queue borrows it and writes down in it where it keeps it.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/queue/queue_order.h"

#include <cstddef>
#include <string>

namespace sched {

// Which of the queue's parts holds a pod.
enum class QueuePlace : std::uint8_t {
  kNone,     // in no part: assumed
  kActive,   // waits for its turn
  kBackoff,  // waits for `ready_at`
  kParked,   // no node takes its shape; waits for one that does
  kRefused,  // a constraint objects; waits for a change that may lift the objection
  kGated,    // has scheduling gates
};

struct WaitingPod {
  k8s::Pod pod;
  std::size_t profile = 0;
  ShapeRef shape;
  QueueOrder order;
  Time queued_since{};
  int attempts = 0;
  int failed_binds = 0;  // in a row

  // Kept by the queue.
  QueuePlace place = QueuePlace::kNone;
  Time ready_at{};          // kBackoff: until when; kParked, kRefused: tried anew by then
  ChangeMask wakes_on = 0;  // kRefused
  // What a constraint said last, so that a woken pod need not be told again. Empty: whatever is
  // said next is worth telling.
  std::string last_refusal;
};

}  // namespace sched
