#include "scheduler/queue/queues.h"

#include <algorithm>

namespace sched {
namespace {

template <typename Each>
std::size_t sum(const std::map<QueueId, PodQueue>& queues, Each&& each) {
  std::size_t all = 0;
  for (const auto& [id, queue] : queues) all += each(queue);
  return all;
}

}  // namespace

void Queues::remove(WaitingPod& pod) {
  if (pod.place == QueuePlace::kNone) return;
  of(pod.queue).remove(pod);
  pods_.back()->index = pod.index;
  pods_[pod.index] = pods_.back();
  pods_.pop_back();
  if (pod.queue != kMainQueue) ++version_;
}

void Queues::move(WaitingPod& pod, QueueId to) {
  if (pod.queue == to) return;
  const QueuePlace place = pod.place;
  const Time ready_at = pod.ready_at;
  remove(pod);
  pod.queue = to;
  switch (place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kBackoff:
      return back_off(pod, ready_at);
    case QueuePlace::kGated:
      return gate(pod);
    case QueuePlace::kActive:
    case QueuePlace::kParked:
    case QueuePlace::kRefused:
      return activate(pod);
  }
}

void Queues::wake(ChangeMask changes) {
  for (auto& [id, queue] : queues_) queue.wake(changes);
}

void Queues::check_parked(WaitsFor opened) {
  for (auto& [id, queue] : queues_) queue.check_parked(opened);
}

void Queues::advance(Time now) {
  for (auto& [id, queue] : queues_) queue.advance(now);
}

std::optional<Time> Queues::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [id, queue] : queues_) {
    const auto deadline = queue.next_deadline();
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  return next;
}

std::size_t Queues::active() const {
  return sum(queues_, [](const PodQueue& queue) { return queue.active(); });
}
std::size_t Queues::backoff() const {
  return sum(queues_, [](const PodQueue& queue) { return queue.backoff(); });
}
std::size_t Queues::unschedulable() const {
  return sum(queues_, [](const PodQueue& queue) { return queue.unschedulable(); });
}
std::size_t Queues::gated() const {
  return sum(queues_, [](const PodQueue& queue) { return queue.gated(); });
}

PodQueue& Queues::of(QueueId id) {
  if (id == kMainQueue) return main_;
  return queues_.try_emplace(id, true).first->second;
}

const PodQueue* Queues::find(QueueId id) const {
  const auto found = queues_.find(id);
  return found == queues_.end() ? nullptr : &found->second;
}

PodQueue& Queues::entered(WaitingPod& pod) {
  if (pod.place == QueuePlace::kNone) {
    pod.index = pods_.size();
    pods_.push_back(&pod);
  }
  if (pod.queue != kMainQueue) ++version_;
  return of(pod.queue);
}

}  // namespace sched
