#include "scheduler/cluster/occupant.h"

#include "scheduler/base/text_hash.h"

#include <utility>

namespace sched {
namespace {

std::uint64_t owner_of(const k8s::Pod& pod) {
  for (const k8s::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller) return text_hash(owner.uid);
  }
  return 0;
}

}  // namespace

Occupant occupant_of(const k8s::Pod& pod, Claim claim, PodClassRef pod_class, bool ours) {
  return {.claim = std::move(claim),
          .pod_class = std::move(pod_class),
          .uid = nullptr,
          .owner = owner_of(pod),
          .since = pod.status.start_time.value_or(Occupant::kNotStarted),
          .priority = pod.spec.priority,
          .kind = Occupant::Kind::kPod,
          .terminating = pod.is_terminating(),
          .ours = ours,
          .chosen_here = pod.spec.node_name.empty()};
}

}  // namespace sched
