#include "scheduler/kubectl-gpu/notes.h"

#include "scheduler/answers/queue.h"

#include <variant>

namespace sched::kubectl {

void Notes::see(const Event& event) {
  if (const auto* pod = std::get_if<event::PodUpserted>(&event)) return see_pod(pod->object);
  if (const auto* node = std::get_if<event::NodeUpserted>(&event);
      node != nullptr && wanted_.nodes) {
    nodes_.insert_or_assign(node->object.metadata.name, node->object);
  }
}

void Notes::see_pod(const k8s::Pod& pod) {
  const k8s::ObjectMeta& meta = pod.metadata;
  if (wanted_.pod && wanted_.pod->first == meta.namespace_ && wanted_.pod->second == meta.name) {
    pod_ = pod;
  }
  if (!pod.spec.priority_class_name.empty()) {
    priorities_.try_emplace(pod.spec.priority_class_name, pod.spec.priority);
  }
  if (pod.is_finished()) return;
  if (!pod.spec.node_name.empty()) {
    names_.add(meta.uid, meta.namespace_ + "/" + meta.name);
    if (wanted_.pods_on.contains(pod.spec.node_name)) pods_on_nodes_.push_back(pod);
  } else if (!served_.contains(pod.spec.scheduler_name) && answers::is_stranger(pod, served_)) {
    strangers_.push_back(pod);
  }
}

}  // namespace sched::kubectl
