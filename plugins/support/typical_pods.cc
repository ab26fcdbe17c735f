#include "plugins/support/typical_pods.h"

namespace plugins {

TypicalPods typical_pods(const sched::ClusterContext& context, std::int64_t percent) {
  std::uint64_t all = 0;
  for (const sched::TypicalPod& pod : context.pods) all += pod.count;
  TypicalPods typical;
  for (const sched::TypicalPod& pod : context.pods) {
    if (typical.covered * 100 >= all * static_cast<std::uint64_t>(percent)) break;
    typical.pods.push_back(pod);
    typical.covered += pod.count;
  }
  return typical;
}

}  // namespace plugins
