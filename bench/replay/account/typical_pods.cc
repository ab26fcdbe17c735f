#include "bench/replay/account/typical_pods.h"

#include "scheduler/cluster/fragmentation.h"
#include "scheduler/cluster/workload.h"
#include "scheduler/framework/pod_shape.h"

namespace bench::replay {

std::vector<sched::TypicalPod> kinds_of(const Trace& trace) {
  sched::ResourceNames names;
  std::vector<sched::PodShape> shapes;
  shapes.reserve(trace.pods.size());
  for (const TracePod& pod : trace.pods) shapes.push_back(sched::shape_of(pod.pod, names));
  return sched::kinds_of(shapes, trace.devices_apart);
}

std::vector<sched::TypicalPod> covering(std::vector<sched::TypicalPod> kinds) {
  kinds.resize(sched::covering(kinds).size());
  return kinds;
}

}  // namespace bench::replay
