#include "scheduler/queue/pod_queue.h"

namespace sched {

void PodQueue::activate(WaitingPod& pod) {
  leave(pod);
  set_in_line(pod, true);
  pod.place = QueuePlace::kActive;
  active_.emplace(pod.order, &pod);
}

void PodQueue::back_off(WaitingPod& pod, Time until) {
  leave(pod);
  set_in_line(pod, true);
  pod.place = QueuePlace::kBackoff;
  ++backoff_;
  start_timer(pod, until);
}

void PodQueue::park(WaitingPod& pod, WaitsFor waits_for, Time try_anew_at) {
  leave(pod);
  set_in_line(pod, waits_for != kWaitsForChange);
  pod.place = QueuePlace::kParked;
  parked_.add(pod, waits_for);
  start_timer(pod, try_anew_at);
}

void PodQueue::refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at) {
  remove(pod);
  pod.place = QueuePlace::kRefused;
  pod.wakes_on = wakes_on;
  refused_[wakes_on].emplace(pod.order, &pod);
  ++refused_size_;
  start_timer(pod, try_anew_at);
}

void PodQueue::gate(WaitingPod& pod) {
  remove(pod);
  pod.place = QueuePlace::kGated;
  ++gated_;
}

void PodQueue::remove(WaitingPod& pod) {
  leave(pod);
  set_in_line(pod, false);
}

void PodQueue::leave(WaitingPod& pod) {
  switch (pod.place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kActive:
      active_.erase(pod.order);
      break;
    case QueuePlace::kBackoff:
      --backoff_;
      stop_timer(pod);
      break;
    case QueuePlace::kParked:
      parked_.remove(pod);
      stop_timer(pod);
      break;
    case QueuePlace::kRefused:
      refused_.find(pod.wakes_on)->second.erase(pod.order);
      --refused_size_;
      stop_timer(pod);
      break;
    case QueuePlace::kGated:
      --gated_;
      break;
  }
  pod.place = QueuePlace::kNone;
}

void PodQueue::wake(ChangeMask changes) {
  for (auto& [wakes_on, pods] : refused_) {
    if ((wakes_on & changes) == 0) continue;
    while (!pods.empty()) activate(*pods.begin()->second);
  }
}

void PodQueue::advance(Time now) {
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    WaitingPod& pod = *timers_.begin()->second;
    activate(pod);
    pod.last_refusal.clear();
  }
}

WaitingPod* PodQueue::head() const {
  WaitingPod* active = active_.empty() ? nullptr : active_.begin()->second;
  WaitingPod* parked = parked_.first_to_check();
  if (parked == nullptr) return active;
  return active != nullptr && active->order < parked->order ? active : parked;
}

std::optional<Time> PodQueue::next_deadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

void PodQueue::set_in_line(WaitingPod& pod, bool in_line) {
  if (!keeps_line_) return;
  WaitingPod* const first = line_.first();
  if (in_line) {
    line_.join(pod);
  } else {
    line_.leave(pod);
  }
  if (line_.first() != first) parked_.check(kWaitsForTurn);
}

void PodQueue::start_timer(WaitingPod& pod, Time at) {
  pod.ready_at = at;
  timers_.emplace(std::pair{at, pod.order.arrival}, &pod);
}

void PodQueue::stop_timer(const WaitingPod& pod) {
  timers_.erase({pod.ready_at, pod.order.arrival});
}

}  // namespace sched
