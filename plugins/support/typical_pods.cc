#include "plugins/support/typical_pods.h"

#include <algorithm>
#include <set>

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

std::vector<std::string> models_apart(const std::vector<sched::TypicalPod>& pods) {
  std::set<std::string> models{""};
  for (const sched::TypicalPod& pod : pods) models.insert(pod.products.begin(), pod.products.end());
  return {models.begin(), models.end()};
}

bool may_run_on(const sched::TypicalPod& pod, std::string_view model) {
  return pod.products.empty() ||
         std::binary_search(pod.products.begin(), pod.products.end(), model);
}

}  // namespace plugins
