// The pods of one queue in the order of their turns, so that each can be told its place in line.
#pragma once

#include "scheduler/queue/waiting_pod.h"

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

#include <cstddef>
#include <functional>

namespace sched {

class WaitingLine {
 public:
  // O(log pods) each. Joining again or leaving without having joined changes nothing.
  void join(WaitingPod& pod) {
    if (pod.in_line) return;
    pod.in_line = true;
    pods_.insert({pod.order, &pod});
  }
  void leave(WaitingPod& pod) {
    if (!pod.in_line) return;
    pod.in_line = false;
    pods_.erase(pod.order);
  }

  // Whose turn is the first; null: nobody's.
  [[nodiscard]] WaitingPod* first() const {
    return pods_.empty() ? nullptr : pods_.begin()->second;
  }
  // The first, by their turns, of which accept(pod) is true; null: none.
  template <typename Accept>
  [[nodiscard]] WaitingPod* first_that(Accept&& accept) const {
    for (const auto& entry : pods_) {
      if (accept(*entry.second)) return entry.second;
    }
    return nullptr;
  }
  // How many have their turn before this pod, whether or not it is in line. O(log pods).
  [[nodiscard]] std::size_t before(const WaitingPod& pod) const {
    return pods_.order_of_key(pod.order);
  }
  [[nodiscard]] std::size_t size() const { return pods_.size(); }

  // Calls visit(pod) for each, the first first.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& entry : pods_) visit(*entry.second);
  }

 private:
  // A red-black tree whose nodes know the size of what hangs below them.
  using Tree = __gnu_pbds::tree<QueueOrder, WaitingPod*, std::less<>, __gnu_pbds::rb_tree_tag,
                                __gnu_pbds::tree_order_statistics_node_update>;
  Tree pods_;
};

}  // namespace sched
