#include "scheduler/queue/parked_shapes.h"

namespace sched {

void ParkedShapes::add(WaitingPod& pod, WaitsFor waits_for) {
  Group& group = groups_[key_of(pod)];
  unmark(group);
  group.waits_for |= waits_for;
  group.pods.emplace(pod.order, &pod);
  ++size_;
}

void ParkedShapes::remove(const WaitingPod& pod) {
  const auto found = groups_.find(key_of(pod));
  Group& group = found->second;
  const bool to_check = group.to_check;
  unmark(group);
  group.pods.erase(pod.order);
  --size_;
  if (group.pods.empty()) {
    groups_.erase(found);
  } else if (to_check) {
    mark(group);
  }
}

void ParkedShapes::check(WaitsFor opened) {
  for (auto& [key, group] : groups_) {
    if ((group.waits_for & opened) != 0) mark(group);
  }
}

WaitingPod* ParkedShapes::first_to_check() const {
  return to_check_.empty() ? nullptr : to_check_.begin()->second->pods.begin()->second;
}

void ParkedShapes::settle(const WaitingPod& pod, WaitsFor waits_for) {
  Group& group = groups_.find(key_of(pod))->second;
  unmark(group);
  // The pods behind the one that was asked about may wait for their turn besides.
  group.waits_for = static_cast<WaitsFor>(waits_for | (group.waits_for & kWaitsForTurn));
}

void ParkedShapes::mark(Group& group) {
  if (group.to_check) return;
  group.to_check = true;
  to_check_.emplace(best(group), &group);
}

void ParkedShapes::unmark(Group& group) {
  if (!group.to_check) return;
  group.to_check = false;
  to_check_.erase(best(group));
}

}  // namespace sched
