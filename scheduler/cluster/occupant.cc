#include "scheduler/cluster/occupant.h"

#include "scheduler/base/text_hash.h"

#include <utility>

namespace sched {

Occupant occupant_of(const k8s::Pod& pod, Claim claim, PodClassRef pod_class, bool ours) {
  const k8s::OwnerReference* controller = k8s::controller_of(pod.metadata);
  return {.claim = std::move(claim),
          .pod_class = std::move(pod_class),
          .uid = nullptr,
          .owner = controller == nullptr ? 0 : text_hash(controller->uid),
          .since = pod.status.start_time.value_or(Occupant::kNotStarted),
          .priority = pod.spec.priority,
          .kind = Occupant::Kind::kPod,
          .terminating = pod.is_terminating(),
          .ours = ours,
          .chosen_here = pod.spec.node_name.empty()};
}

}  // namespace sched
