// Pods that fit on no node, parked together by what makes them alike: profile and shape, and, where
// rules across nodes have a say, what these read besides.
//
// What holds for one pod of such a group holds for all, so a group is asked about once, not its
// pods. A group sleeps, by what it waits for, until something of that kind opens up; then it is
// worth a check, by its best pod. A check that finds no room puts the group to sleep again. Of a
// group that does find room only the best pod is taken, and the group stays worth a check for the
// next one: a hundred GPUs that are freed at once for a thousand pods alike cost a hundred and one
// checks. Groups that sleep cost nothing while others come and go.
#pragma once

#include "scheduler/queue/waiting_pod.h"

#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace sched {

class ParkedShapes {
 public:
  // The pod's shape has just been found to fit nowhere: its group needs no check. O(log pods).
  void add(WaitingPod& pod, WaitsFor waits_for);
  void remove(const WaitingPod& pod);

  // Something opened up for those who wait for one of these; how many groups that is. O(groups that
  // sleep so · log groups).
  std::size_t check(WaitsFor opened);
  // There is room on nodes, so much on any of them at most: for the groups that wait for nodes,
  // unless they wait for nodes alone and that is too little. O(groups that sleep so + those of them
  // that are worth a check then · log groups).
  void check_nodes(const NodeRoom& free);
  // The same as check() for the group of this pod alone.
  void check_group_of(const WaitingPod& pod, WaitsFor opened);
  // The pod whose turn it would be among the groups worth a check; null: none.
  [[nodiscard]] WaitingPod* first_to_check() const;
  // The group of this pod fits nowhere, and waits for this.
  void settle(const WaitingPod& pod, WaitsFor waits_for);

  // What some group sleeps for.
  [[nodiscard]] WaitsFor asleep() const;
  // The pods that are alike with this one, itself among them, the best first.
  [[nodiscard]] std::vector<WaitingPod*> group_of(const WaitingPod& pod) const;
  // One pod of each group, the best of its group; the groups in no order that means anything.
  [[nodiscard]] std::vector<WaitingPod*> one_of_each() const;

 private:
  struct Group {
    std::map<QueueOrder, WaitingPod*> pods;  // not empty
    WaitsFor waits_for = 0;                  // any of its pods
    bool to_check = false;                   // else it sleeps
    // Where it is among those that sleep for the same, by bit.
    std::array<std::size_t, kWaitsForBits> asleep_at{};
  };
  using Key = std::tuple<std::size_t, ShapeId, Apart>;
  static Key key_of(const WaitingPod& pod) { return {pod.profile, pod.shape.id(), pod.apart}; }
  static const QueueOrder& best(const Group& group) { return group.pods.begin()->first; }
  // Worth a check from now on; asleep from now on, for `waits_for`.
  void rouse(Group& group);
  void lull(Group& group, WaitsFor waits_for);
  // Nowhere, until one of the above.
  void take_out(Group& group);

  std::map<Key, Group> groups_;
  std::map<QueueOrder, Group*> to_check_;  // by the group's best pod
  // By the bit of what they sleep for. Their order shows nowhere. What decides whether a group is
  // worth a check stands beside it, since there may be very many.
  struct Asleep {
    Group* group = nullptr;
    NodeRoom least_room;  // of its pods, where they wait for nodes alone
  };
  std::array<std::vector<Asleep>, kWaitsForBits> asleep_;
};

}  // namespace sched
