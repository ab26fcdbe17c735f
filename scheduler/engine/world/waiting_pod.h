// A pod of this scheduler from when it is first seen until it is bound, with the data that
// scheduling needs.
//
// It is an entity of one pod, and part of the pod's record; the queue only refers to it.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/types.h"
#include "scheduler/cluster/pod_classes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/world/refused_binds.h"
#include "scheduler/framework/profile.h"
#include "scheduler/queue/entity.h"

#include <cstdint>
#include <utility>

namespace sched {

struct WaitingPod : Entity {
  k8s::Pod pod;
  ShapeRef shape;  // has_shape() sets it
  PodClassRef pod_class;
  Constraints constraints;  // those that concern it
  Time queued_since{};      // when this process first saw it
  int attempts = 0;
  int failed_binds = 0;  // in a row
  RefusedBinds refused_binds;

  void has_shape(ShapeRef its) {
    shape = std::move(its);
    kind = static_cast<std::uint32_t>(shape.id());
  }
};

// Every entity is one pod today.
[[nodiscard]] inline WaitingPod& pod_of(Entity& entity) { return static_cast<WaitingPod&>(entity); }
[[nodiscard]] inline const WaitingPod& pod_of(const Entity& entity) {
  return static_cast<const WaitingPod&>(entity);
}

}  // namespace sched
