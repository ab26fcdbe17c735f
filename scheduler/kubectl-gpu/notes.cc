#include "scheduler/kubectl-gpu/notes.h"

#include "scheduler/answers/queue.h"
#include "scheduler/base/nearest_names.h"

#include <variant>

namespace sched::kubectl {

void Notes::see(const Event& event) {
  if (const auto* pod = std::get_if<event::PodUpserted>(&event)) return see_pod(pod->object);
  if (const auto* one = std::get_if<event::NamespaceUpserted>(&event)) {
    namespaces_.insert(one->object.metadata.name);
  }
  const auto* node = std::get_if<event::NodeUpserted>(&event);
  if (node == nullptr) return;
  const std::string& name = node->object.metadata.name;
  is_node_ = is_node_ || (wanted_.pod && wanted_.pod->second == name);
  if (wanted_.nodes) nodes_.insert_or_assign(name, node->object);
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
  const bool is_like_wanted =
      wanted_.pod && (wanted_.pod->first == meta.namespace_ || wanted_.pod->second == meta.name);
  if (wanted_.pods || is_like_wanted) pods_[{meta.namespace_, meta.name}] = ref_of(pod);
  if (!pod.spec.node_name.empty()) {
    names_.add(meta.uid, meta.namespace_ + "/" + meta.name);
    if (wanted_.pods_on.contains(pod.spec.node_name)) pods_on_nodes_.push_back(pod);
  } else if (!served_.contains(pod.spec.scheduler_name) && answers::is_stranger(pod, served_)) {
    strangers_.push_back(pod);
  }
}

std::string Notes::instead_of_pod() const {
  if (!wanted_.pod) return {};
  const auto& [namespace_, name] = *wanted_.pod;
  std::string elsewhere;
  std::vector<std::string_view> neighbours;
  for (const auto& [known, pod] : pods_) {
    if (known.first == namespace_) neighbours.push_back(known.second);
    if (known.second == name)
      elsewhere += (elsewhere.empty() ? "" : ", ") + known.first + "/" + name;
  }
  if (!elsewhere.empty()) return "; there is " + elsewhere;
  if (is_node_) return "; it is a node: kubectl gpu nodes";
  const auto meant = nearest_name(name, neighbours);
  return meant ? "; is \"" + std::string(*meant) + "\" meant?" : "";
}

std::string Notes::instead_of_namespace(const std::string& name) const {
  const auto meant = nearest_name(name, {namespaces_.begin(), namespaces_.end()});
  return meant ? "; is \"" + std::string(*meant) + "\" meant?" : "";
}

}  // namespace sched::kubectl
