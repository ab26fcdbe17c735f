// All pods of ours that wait: one queue for each quota, and the main queue for pods without.
//
// Inside a queue pods wait by priority, then age. Between queues the turn goes to whoever ranks
// first now; the rank is asked for at every turn and not kept, for it changes with every placement.
// Only the pod whose turn it would be is asked whether it has room.
#pragma once

#include "scheduler/queue/pod_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sched {

class Queues {
 public:
  Queues() : main_(queues_.try_emplace(kMainQueue).first->second) {}
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // As PodQueue's, on the queue that the pod belongs to.
  void activate(WaitingPod& pod) { entered(pod).activate(pod); }
  void back_off(WaitingPod& pod, Time until) { entered(pod).back_off(pod, until); }
  void park(WaitingPod& pod, WaitsFor waits_for, Time try_anew_at) {
    entered(pod).park(pod, waits_for, try_anew_at);
  }
  void refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at) {
    entered(pod).refuse(pod, wakes_on, try_anew_at);
  }
  void gate(WaitingPod& pod) { entered(pod).gate(pod); }
  void remove(WaitingPod& pod);

  // The pod, which waits somewhere, belongs to another queue from now on. What it waited for there
  // need not be what it waits for here, so it has its turn again; a back-off and a gate it keeps.
  void move(WaitingPod& pod, QueueId to);

  // On all queues.
  void wake(ChangeMask changes);
  void check_parked(WaitsFor opened);
  void advance(Time now);
  [[nodiscard]] std::optional<Time> next_deadline() const;
  [[nodiscard]] std::size_t active() const;
  [[nodiscard]] std::size_t backoff() const;
  [[nodiscard]] std::size_t unschedulable() const;
  [[nodiscard]] std::size_t gated() const;

  // The pod whose turn it is; null: none. It stays where it is until it is put elsewhere.
  // rank(pod) is a value of which the least comes first, of equals the pod first in order; it is
  // asked only when several queues have somebody. obstacle(pod) is what a parked pod still waits
  // for, nullopt when it has room; it is asked only of pods that would come first.
  template <typename Rank, typename Obstacle>
  [[nodiscard]] WaitingPod* next(Rank&& rank, Obstacle&& obstacle) {
    while (WaitingPod* head = first_head(rank)) {
      if (head->place != QueuePlace::kParked) return head;
      const std::optional<WaitsFor> waits_for = obstacle(*head);
      if (!waits_for) return head;
      of(head->queue).settle(*head, *waits_for);
    }
    return nullptr;
  }

  // The queue of that number, made if need be.
  PodQueue& of(QueueId id);
  // The same; null: nobody has been in it yet.
  [[nodiscard]] const PodQueue* find(QueueId id) const;
  // Calls visit(id, queue) for all but the main one.
  template <typename Visit>
  void for_each_quota(Visit&& visit) {
    for (auto& [id, queue] : queues_) {
      if (id != kMainQueue) visit(id, queue);
    }
  }
  // All pods that wait somewhere, in no order.
  [[nodiscard]] const std::vector<WaitingPod*>& pods() const { return pods_; }
  // Grows when a pod enters or leaves a queue that is not the main one.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  PodQueue& entered(WaitingPod& pod);
  template <typename Rank>
  [[nodiscard]] WaitingPod* first_head(Rank& rank) const {
    if (queues_.size() == 1) return main_.head();
    WaitingPod* best = nullptr;
    std::optional<decltype(rank(*best))> best_rank;  // asked for when there is a second one
    for (const auto& [id, queue] : queues_) {
      WaitingPod* head = queue.head();
      if (head == nullptr) continue;
      if (best == nullptr) {
        best = head;
        continue;
      }
      if (!best_rank) best_rank = rank(*best);
      auto other = rank(*head);
      const int order = compare(other, *best_rank);
      if (order > 0 || (order == 0 && best->order < head->order)) continue;
      best = head;
      best_rank = std::move(other);
    }
    return best;
  }

  std::map<QueueId, PodQueue> queues_;
  PodQueue& main_;
  std::vector<WaitingPod*> pods_;
  std::uint64_t version_ = 0;
};

}  // namespace sched
