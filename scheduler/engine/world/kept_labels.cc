#include "scheduler/engine/world/kept_labels.h"

namespace sched {

void keep_labels(NodeFacts& facts, const NodeFacts* before, const ResourceNames& names,
                 const gpu::SiteLabels& site) {
  if (before == nullptr) return;
  if (gpu::is_discovered(facts.labels) || gpu::excludes_discovery(facts.labels)) return;
  if (gpu::states_sharing(before->labels)) {
    for (const auto& [key, value] : before->labels) {
      if (gpu::is_of_discovery(key)) facts.kept_labels.set(key, value);
    }
  } else {
    facts.kept_labels = before->kept_labels;
  }
  if (!facts.kept_labels.empty()) facts.gpu = inventory_of(facts, names, site);
}

}  // namespace sched
