// A pod of this scheduler from when it is first seen until it is bound, with the data that
// scheduling needs.
//
// It is an entity of one pod, and part of the pod's record; the queue only refers to it. A pod that
// waits for others of its group is in no queue itself: its group is the entity.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/types.h"
#include "scheduler/cluster/pod_classes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/world/message_budget.h"
#include "scheduler/engine/world/refused_binds.h"
#include "scheduler/framework/profile.h"
#include "scheduler/queue/entity.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sched {

struct WaitingGroup;

struct WaitingPod : Entity {
  k8s::Pod pod;
  ShapeRef shape;  // has_shape() sets it
  PodClassRef pod_class;
  Constraints constraints;  // those that concern it
  Time queued_since{};      // when this process first saw it
  int attempts = 0;
  int failed_binds = 0;  // in a row
  RefusedBinds refused_binds;
  WaitingGroup* group = nullptr;  // with which it waits; null: it waits alone
  bool is_late = false;           // its group had started when it was first tried
  // Room was being made for it, and was given up because there was room elsewhere. If others take
  // that first, it goes on with the first (actions/preempt.h).
  bool gave_up_room = false;
  MessageBudget messages;  // of what constraints object to

  void has_shape(ShapeRef its) {
    shape = std::move(its);
    kind = static_cast<std::uint32_t>(shape.id());
  }
};

// The pods of a group that wait until enough of them can start together (pod_group.h). Its fields
// follow from them: the lowest priority, the earliest creation, what they ask of quota in all.
struct WaitingGroup : Entity {
  struct Member {
    WaitingPod* pod = nullptr;
    std::size_t min_count = 1;  // by its own annotation
  };
  std::string name;
  std::vector<Member> members;  // by the order of their turns; not empty
  std::size_t min_count = 1;    // the largest of theirs
  // The pod that asks for most.
  WaitingPod* largest = nullptr;
  Time joined{};  // when the last pod joined

  bool was_tried = false;   // and did not start
  WaitsFor waited_for = 0;  // since then
  bool postponed = false;   // until its next attempt is allowed (retries.h)
  std::string told;         // why it waits
  Time told_at{};           // when all its pods were last told
  MessageBudget messages;   // that say something else than the one before
};

// The entity's pod; of a group, the one that asks for most.
[[nodiscard]] inline WaitingPod& pod_of(Entity& entity) {
  if (entity.is_group) return *static_cast<WaitingGroup&>(entity).largest;
  return static_cast<WaitingPod&>(entity);
}
[[nodiscard]] inline const WaitingPod& pod_of(const Entity& entity) {
  if (entity.is_group) return *static_cast<const WaitingGroup&>(entity).largest;
  return static_cast<const WaitingPod&>(entity);
}
[[nodiscard]] inline const Entity& entity_of(const WaitingPod& pod) {
  if (pod.group != nullptr) return *pod.group;
  return pod;
}

// Calls visit(pod) for each pod of the entity.
template <typename Visit>
void for_each_pod(const Entity& entity, Visit&& visit) {
  if (!entity.is_group) return visit(static_cast<const WaitingPod&>(entity));
  for (const WaitingGroup::Member& member : static_cast<const WaitingGroup&>(entity).members) {
    visit(static_cast<const WaitingPod&>(*member.pod));
  }
}

}  // namespace sched
