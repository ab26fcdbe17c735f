// The pods of ours that wait, each in exactly one place, and whose turn it is.
//
//   active    wait for their turn: priority, then age
//   backoff   their bind failed; they come back after a while
//   parked    their shape fits on no node (parked_shapes.h)
//   refused   a constraint objects to them; woken by the changes it named
//   gated     have scheduling gates; leave when the pod changes
//
// A pod that is put somewhere leaves the place where it was. Parked and refused pods are tried anew
// when they have waited long without being woken. The queue knows neither nodes nor plugins; it
// borrows the pods, which must be removed before they die. All operations are O(log pods).
#pragma once

#include "scheduler/queue/parked_shapes.h"
#include "scheduler/queue/waiting_pod.h"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace sched {

class PodQueue {
 public:
  void activate(WaitingPod& pod);
  void back_off(WaitingPod& pod, Time until);
  // No node takes the pod's shape, as of now.
  void park(WaitingPod& pod, Time try_anew_at);
  void refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at);
  void gate(WaitingPod& pod);
  void remove(WaitingPod& pod);

  // Refused pods that wait for one of these changes become active. O(their number).
  void wake(ChangeMask changes);
  // Something opened up on some node: parked pods may fit.
  void check_parked() { parked_.check_all(); }
  // Pods whose waiting time is over become active.
  void advance(Time now);

  // The pod whose turn it is; null: none. It stays where it is until it is put elsewhere.
  // fits(pod) tells whether some node takes a parked pod's shape; it is asked only for pods that
  // would come before all active ones, so priorities hold between woken and waiting pods.
  template <typename Fits>
  [[nodiscard]] WaitingPod* next(Fits&& fits) {
    for (;;) {
      WaitingPod* head = active_.empty() ? nullptr : active_.begin()->second;
      WaitingPod* parked = parked_.first_to_check();
      if (parked == nullptr || (head != nullptr && head->order < parked->order)) return head;
      if (fits(*parked)) return parked;
      parked_.settle(*parked);
    }
  }

  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  [[nodiscard]] std::size_t active() const { return active_.size(); }
  [[nodiscard]] std::size_t backoff() const { return backoff_; }
  [[nodiscard]] std::size_t unschedulable() const { return parked_.size() + refused_size_; }
  [[nodiscard]] std::size_t gated() const { return gated_; }

 private:
  using ByOrder = std::map<QueueOrder, WaitingPod*>;
  void start_timer(WaitingPod& pod, Time at);
  void stop_timer(const WaitingPod& pod);

  ByOrder active_;
  ParkedShapes parked_;
  std::map<ChangeMask, ByOrder> refused_;
  // Deadlines of pods in backoff, parked, refused.
  std::map<std::pair<Time, std::uint64_t>, WaitingPod*> timers_;
  std::size_t backoff_ = 0;
  std::size_t refused_size_ = 0;
  std::size_t gated_ = 0;
};

}  // namespace sched
