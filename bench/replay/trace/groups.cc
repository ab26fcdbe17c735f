#include "bench/replay/trace/groups.h"

#include "scheduler/gpu/wishes.h"

#include <utility>
#include <vector>

namespace bench::replay {

void leave_out_groups(Trace& trace) {
  for (TracePod& pod : trace.pods) {
    k8s::StringMap& annotations = pod.pod.metadata.annotations;
    std::vector<k8s::StringMap::Entry> kept;
    for (const auto& entry : annotations) {
      const bool of_group = entry.first == sched::gpu::kPodGroupAnnotation ||
                            entry.first == sched::gpu::kMinCountAnnotation;
      if (!of_group) kept.push_back(entry);
    }
    if (kept.size() == annotations.size()) continue;
    annotations = k8s::StringMap(std::move(kept));
    ++trace.counts["pods whose groups are not considered"];
  }
}

}  // namespace bench::replay
