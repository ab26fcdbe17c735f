#include "scheduler/engine/world/kept_labels.h"

namespace sched {
namespace {

bool has_sharing_label(const k8s::StringMap& labels) {
  return !gpu::label_of(labels, gpu::kSharingLabel).empty();
}

}  // namespace

void keep_labels(NodeFacts& facts, const NodeFacts* before, const ResourceNames& names,
                 const gpu::SiteLabels& site) {
  if (before == nullptr) return;
  if (gpu::is_discovered(facts.labels) || gpu::excludes_discovery(facts.labels)) return;
  if (has_sharing_label(before->labels)) {
    for (const auto& [key, value] : before->labels) {
      if (gpu::is_of_discovery(key)) facts.kept_labels.set(key, value);
    }
  } else {
    facts.kept_labels = before->kept_labels;
  }
  if (!facts.kept_labels.empty()) facts.gpu = inventory_of(facts, names, site);
}

}  // namespace sched
