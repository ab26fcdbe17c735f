#include "scheduler/kubectl-gpu/notes.h"

#include "scheduler/answers/queue.h"
#include "scheduler/base/nearest_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace sched::kubectl {
namespace {

// "a, b, c and 2 more"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() <= kMost ? text
                               : text + " and " + std::to_string(names.size() - kMost) + " more";
}

// Whether that is what kubectl calls a kind of object that has pods: of "job/train", "job".
bool names_workload(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kWorkloads = {
      "job", "cronjob", "deployment", "daemonset", "replicaset", "statefulset", "jobset"};
  constexpr std::array<std::string_view, 4> kShort = {"deploy", "ds", "rs", "sts"};
  kind = kind.substr(0, kind.find('.'));
  const auto is = [&](std::string_view one) {
    return kind.starts_with(one) && (kind.size() == one.size() || kind.substr(one.size()) == "s");
  };
  return std::any_of(kWorkloads.begin(), kWorkloads.end(), is) ||
         std::find(kShort.begin(), kShort.end(), kind) != kShort.end();
}

}  // namespace

void Notes::see(const Event& event) {
  if (const auto* pod = std::get_if<event::PodUpserted>(&event)) return see_pod(pod->object);
  if (const auto* one = std::get_if<event::NamespaceUpserted>(&event)) {
    namespaces_.insert(one->object.metadata.name);
  }
  if (const auto* quota = std::get_if<event::QuotaUpserted>(&event)) {
    const k8s::ObjectMeta& meta = quota->object.metadata;
    quotas_.insert_or_assign(meta.name, meta.creation_timestamp.value_or(Time{}));
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
  } else if (!served_.contains(pod.spec.scheduler_name) &&
             answers::gets_unserved_row(pod, served_)) {
    unserved_.push_back(pod);
  }
}

std::string Notes::instead_of_pod() const {
  if (!wanted_.pod) return {};
  const auto& [namespace_, name] = *wanted_.pod;
  std::vector<std::string> elsewhere;
  std::vector<std::string_view> neighbours;
  for (const auto& [known, pod] : pods_) {
    if (known.first == namespace_) neighbours.push_back(known.second);
    if (known.second == name) elsewhere.push_back(known.first + "/" + name);
  }
  if (!elsewhere.empty()) return "; there is " + some_of(elsewhere);
  if (is_node_) return "; it is a node: kubectl gpu nodes";
  if (const auto meant = nearest_name(name, neighbours)) {
    return "; is \"" + std::string(*meant) + "\" meant?";
  }
  if (!namespaces_.contains(namespace_) && names_workload(namespace_)) {
    return "; why is about one pod; kubectl gpu queue lists those that wait";
  }
  return {};
}

std::string Notes::instead_of_namespace(const std::string& name) const {
  const auto meant = nearest_name(name, {namespaces_.begin(), namespaces_.end()});
  return meant ? "; is \"" + std::string(*meant) + "\" meant?" : "";
}

}  // namespace sched::kubectl
