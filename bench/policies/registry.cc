#include "bench/policies/registry.h"

#include "bench/policies/gpu_devices/gpu_devices.h"
#include "bench/policies/mig_placement/mig_placement.h"
#include "bench/policies/published/published.h"
#include "plugins/registry.h"

#include <algorithm>
#include <iterator>

namespace bench {

namespace {

sched::PluginEntry score(std::string_view name,
                         sched::PluginInstance (*make)(k8s::yaml::ObjectReader&)) {
  return {.name = name, .scores = true, .on_by_default = false, .make = make};
}

sched::Registry with_those_of_studies(sched::Registry all) {
  // Right after the plugin that counts GPUs, so that a pod is refused because of a number before it
  // is refused because of how free GPUs are spread.
  const auto counts = std::find_if(all.begin(), all.end(), [](const sched::PluginEntry& entry) {
    return entry.name == "NodeResourcesFit";
  });
  all.insert(std::next(counts), {.name = "GpuDevices", .filters = true, .make = make_gpu_devices});
  all.insert(
      all.end(),
      {score("Fgd", make_fgd), score("BestFit", make_best_fit), score("DotProd", make_dot_prod),
       score("GpuClustering", make_gpu_clustering),
       score("GpuPackingScore", make_gpu_packing_score), score("RandomDevice", make_random_device),
       score("MigPlacement", make_mig_placement)});
  return all;
}

}  // namespace

const sched::Registry& registry() {
  static const sched::Registry kRegistry = with_those_of_studies(plugins::registry());
  return kRegistry;
}

}  // namespace bench
