#include "scheduler/framework/node_view.h"

namespace sched {

NodeFacts facts_of(const k8s::Node& node, ResourceNames& names) {
  return {.name = node.metadata.name,
          .labels = node.metadata.labels,
          .taints = node.spec.taints,
          .unschedulable = node.spec.unschedulable,
          .allocatable = to_resources(node.status.allocatable, names)};
}

}  // namespace sched
