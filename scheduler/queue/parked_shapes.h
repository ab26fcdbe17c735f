// Pods that fit on no node, parked together by what makes them alike: profile and shape.
//
// What holds for one pod of such a group holds for all, so a group is asked about once, not its
// pods. Groups wait in two sets: those for which nothing has opened up since they were found to fit
// nowhere, and those worth a check, by their best pod. A change of the cluster makes the groups
// that it may help worth a check; a check that finds no room puts its group back. Of a group that
// does find room only the best pod is taken, and the group stays worth a check for the next one:
// ten thousand pods that wait for one GPU cost one check per GPU that is freed, and those that wait
// for quota cost nothing while others come and go.
#pragma once

#include "scheduler/queue/waiting_pod.h"

#include <cstddef>
#include <map>
#include <utility>

namespace sched {

class ParkedShapes {
 public:
  // The pod's shape has just been found to fit nowhere: its group needs no check. O(log pods).
  void add(WaitingPod& pod, WaitsFor waits_for);
  void remove(const WaitingPod& pod);

  // Something opened up for those who wait for one of these. O(groups).
  void check(WaitsFor opened);
  // The pod whose turn it would be among the groups worth a check; null: none.
  [[nodiscard]] WaitingPod* first_to_check() const;
  // The group of this pod fits nowhere, and waits for this.
  void settle(const WaitingPod& pod, WaitsFor waits_for);

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Group {
    std::map<QueueOrder, WaitingPod*> pods;  // not empty
    WaitsFor waits_for = 0;                  // any of its pods
    bool to_check = false;
  };
  using Key = std::pair<std::size_t, ShapeId>;  // profile, shape
  static Key key_of(const WaitingPod& pod) { return {pod.profile, pod.shape.id()}; }
  static const QueueOrder& best(const Group& group) { return group.pods.begin()->first; }
  void mark(Group& group);
  void unmark(Group& group);

  std::map<Key, Group> groups_;
  std::map<QueueOrder, Group*> to_check_;  // by the group's best pod
  std::size_t size_ = 0;
};

}  // namespace sched
