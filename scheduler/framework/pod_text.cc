#include "scheduler/framework/pod_text.h"

#include "scheduler/framework/parts_writer.h"
#include "scheduler/framework/read_annotations.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {
namespace {

struct TextBytes {
  std::size_t bytes = 0;

  void number(std::int64_t /*value*/) {}
  void text(const std::string& value) { bytes += value.size(); }
  void list(std::size_t /*size*/, std::size_t /*held*/) {}
};

// Frees its memory, too.
template <typename List>
void empty(List& list) {
  List().swap(list);
}

}  // namespace

std::size_t text_bytes(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  PartsWriter<TextBytes> sum;
  sum.add(pod.metadata.labels);
  for (const k8s::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller) sum.add(owner);
  }
  for (const auto& [key, value] : pod.metadata.annotations) {
    if (is_read_annotation(key)) sum.add(key, value);
  }
  for (const std::vector<k8s::Container>* containers : {&spec.init_containers, &spec.containers}) {
    for (const k8s::Container& container : *containers) sum.add(container.name, container.image);
  }
  sum.add(spec.node_selector, spec.node_affinity, spec.pod_affinity, spec.pod_anti_affinity,
          spec.tolerations, spec.topology_spread_constraints, spec.scheduling_gates, spec.volumes,
          spec.image_volumes, spec.resource_claims);
  return sum.take().bytes;
}

void drop_text(k8s::Pod& pod) {
  k8s::Pod::Spec& spec = pod.spec;
  pod.metadata.labels = {};
  pod.metadata.annotations = {};
  empty(pod.metadata.owner_references);
  for (std::vector<k8s::Container>* containers : {&spec.init_containers, &spec.containers}) {
    for (k8s::Container& container : *containers) {
      empty(container.name);
      empty(container.image);
    }
  }
  spec.node_selector = {};
  spec.node_affinity.reset();
  spec.pod_affinity.reset();
  spec.pod_anti_affinity.reset();
  empty(spec.tolerations);
  empty(spec.topology_spread_constraints);
  if (!spec.scheduling_gates.empty()) spec.scheduling_gates = {spec.scheduling_gates.front()};
  empty(spec.volumes);
  empty(spec.image_volumes);
  empty(spec.resource_claims);
}

}  // namespace sched
