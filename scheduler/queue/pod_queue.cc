#include "scheduler/queue/pod_queue.h"

#include <algorithm>

namespace sched {

void PodQueue::activate(WaitingPod& pod) {
  leave(pod);
  set_in_line(pod, true);
  enter(pod, QueuePlace::kActive);
  active_.emplace(pod.order, &pod);
}

void PodQueue::back_off(WaitingPod& pod, Time until) {
  leave(pod);
  set_in_line(pod, true);
  enter(pod, QueuePlace::kBackoff);
  roster_.timers.start(pod, until);
}

void PodQueue::park(WaitingPod& pod, const Apart& apart, WaitsFor waits_for, Time try_anew_at) {
  leave(pod);
  pod.apart = apart;
  if (apart.any()) ++roster_.apart;
  set_in_line(pod, waits_for != kWaitsForChange && !apart.any());
  enter(pod, QueuePlace::kParked);
  parked_.add(pod, waits_for);
  roster_.timers.start(pod, try_anew_at);
}

void PodQueue::refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at) {
  remove(pod);
  enter(pod, QueuePlace::kRefused);
  pod.wakes_on = wakes_on;
  refused_[wakes_on].emplace(pod.order, &pod);
  roster_.timers.start(pod, try_anew_at);
}

void PodQueue::gate(WaitingPod& pod) {
  remove(pod);
  enter(pod, QueuePlace::kGated);
}

void PodQueue::remove(WaitingPod& pod) {
  leave(pod);
  set_in_line(pod, false);
}

void PodQueue::enter(WaitingPod& pod, QueuePlace place) {
  pod.place = place;
  ++roster_.pods[static_cast<std::size_t>(place)];
}

void PodQueue::leave(WaitingPod& pod) {
  pod.must_borrow = false;
  switch (pod.place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kActive:
      active_.erase(pod.order);
      break;
    case QueuePlace::kBackoff:
      roster_.timers.stop(pod);
      break;
    case QueuePlace::kParked:
      parked_.remove(pod);
      if (pod.apart.any()) --roster_.apart;
      roster_.timers.stop(pod);
      break;
    case QueuePlace::kRefused:
      refused_.find(pod.wakes_on)->second.erase(pod.order);
      roster_.timers.stop(pod);
      break;
    case QueuePlace::kGated:
      break;
  }
  --roster_.pods[static_cast<std::size_t>(pod.place)];
  pod.place = QueuePlace::kNone;
}

bool PodQueue::waits_for(ChangeMask changes) const {
  return std::any_of(refused_.begin(), refused_.end(), [&](const auto& waiting) {
    return (waiting.first & changes) != 0 && !waiting.second.empty();
  });
}

void PodQueue::wake(ChangeMask changes) {
  for (auto& [wakes_on, pods] : refused_) {
    if ((wakes_on & changes) == 0) continue;
    while (!pods.empty()) activate(*pods.begin()->second);
  }
}

WaitingPod* PodQueue::head() const {
  WaitingPod* active = active_.empty() ? nullptr : active_.begin()->second;
  WaitingPod* parked = parked_.first_to_check();
  if (parked == nullptr) return active;
  return active != nullptr && active->order < parked->order ? active : parked;
}

void PodQueue::rejoin(const WaitingPod& pod) {
  for (WaitingPod* alike : parked_.group_of(pod)) activate(*alike);
}

void PodQueue::set_in_line(WaitingPod& pod, bool in_line) {
  if (!keeps_line_) return;
  const WaitingPod* const before = line_.first();
  if (in_line) {
    line_.join(pod);
  } else {
    line_.leave(pod);
  }
  WaitingPod* const first = line_.first();
  // Who waits for its turn and is not the first now still waits for it.
  if (first != nullptr && first != before && first->place == QueuePlace::kParked) {
    parked_.check_group_of(*first, kWaitsForTurn);
  }
}

}  // namespace sched
