#include "bench/replay/account/typical_pods.h"

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

std::vector<sched::TypicalPod> covering(std::vector<sched::TypicalPod> kinds,
                                        std::uint64_t percent) {
  std::uint64_t all = 0;
  for (const sched::TypicalPod& kind : kinds) all += kind.count;
  std::uint64_t covered = 0;
  std::size_t taken = 0;
  while (taken < kinds.size() && covered * 100 < all * percent) covered += kinds[taken++].count;
  kinds.resize(taken);
  return kinds;
}

}  // namespace bench::replay
