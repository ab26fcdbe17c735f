// Pods of ours that wait, each in exactly one place, and whose turn it is.
//
//   active    wait for their turn: priority, then age
//   backoff   their bind failed; they come back after a while
//   parked    their shape has no room (parked_shapes.h)
//   refused   a constraint objects to them; woken by the changes it named
//   gated     have scheduling gates; leave when the pod changes
//
// A pod that is put somewhere leaves the place where it was. Parked and refused pods are tried anew
// when they have waited long without being woken. The queue knows neither nodes nor plugins nor
// quotas; it borrows the pods, which must be removed before they die. All operations are O(log
// pods).
#pragma once

#include "scheduler/queue/parked_shapes.h"
#include "scheduler/queue/timers.h"
#include "scheduler/queue/waiting_line.h"
#include "scheduler/queue/waiting_pod.h"

#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace sched {

// What several queues keep together, so that it need not be asked of each.
struct Roster {
  Timers timers;                                 // of pods in backoff, parked, refused
  std::array<std::size_t, kQueuePlaces> pods{};  // how many are in each place
  std::size_t apart = 0;                         // how many are parked apart
  [[nodiscard]] std::size_t in(QueuePlace place) const {
    return pods[static_cast<std::size_t>(place)];
  }
};

class PodQueue {
 public:
  // With a line, its pods know their places; it costs a little at every move. `roster` outlives the
  // queue.
  explicit PodQueue(Roster& roster, bool keeps_line = false)
      : roster_(roster), keeps_line_(keeps_line) {}

  void activate(WaitingPod& pod);
  void back_off(WaitingPod& pod, Time until);
  // No node takes it, as of now; those that are like it so far neither.
  void park(WaitingPod& pod, const Apart& apart, WaitsFor waits_for, Time try_anew_at);
  void refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at);
  void gate(WaitingPod& pod);
  void remove(WaitingPod& pod);

  // Whether a refused pod waits for one of these changes. O(different sets of changes).
  [[nodiscard]] bool waits_for(ChangeMask changes) const;
  // Refused pods that wait for one of these changes become active. O(their number).
  void wake(ChangeMask changes);
  // Parked pods that wait for one of these may have room; so many kinds of them are to be asked
  // about.
  std::size_t check_parked(WaitsFor opened) { return parked_.check(opened); }
  // The same where there is room on nodes, so much on any of them at most.
  void check_parked_for_nodes(const NodeRoom& free) { parked_.check_nodes(free); }
  // What some parked pods wait for without being worth a check.
  [[nodiscard]] WaitsFor asleep() const { return parked_.asleep(); }

  // The pod whose turn it is; null: none. One that is parked is to be asked about first, and
  // settled if it has no room.
  [[nodiscard]] WaitingPod* head() const;
  void settle(const WaitingPod& pod, WaitsFor waits_for) { parked_.settle(pod, waits_for); }
  // This parked pod and those like it become active: each is to hear of something. O(their number).
  void rejoin(const WaitingPod& pod);

  // One of each kind of parked pods; what holds of it holds of all of its kind.
  [[nodiscard]] std::vector<WaitingPod*> parked_kinds() const { return parked_.one_of_each(); }

  // The pods that wait for room or for the end of their back-off; empty without a line. Not in line
  // are those that wait for something else: gated, refused, parked apart, or not to be helped.
  [[nodiscard]] const WaitingLine& line() const { return line_; }

 private:
  using ByOrder = std::map<QueueOrder, WaitingPod*>;
  void enter(WaitingPod& pod, QueuePlace place);
  void leave(WaitingPod& pod);
  void set_in_line(WaitingPod& pod, bool in_line);

  Roster& roster_;
  bool keeps_line_;
  WaitingLine line_;
  ByOrder active_;
  ParkedShapes parked_;
  std::map<ChangeMask, ByOrder> refused_;
};

}  // namespace sched
