#include "tests/support/builders.h"

#include <algorithm>
#include <stdexcept>

namespace tests {

namespace {

// Sets `name` in place or adds it: each name once, as in the API.
void set(k8s::ResourceList& list, std::string_view name, k8s::Quantity amount) {
  for (auto& [known, value] : list) {
    if (known == name) {
      value = amount;
      return;
    }
  }
  list.emplace_back(std::string(name), amount);
}

k8s::SelectorRequirement requirement(const std::string& key, k8s::SelectorOperator op,
                                     std::vector<std::string> values) {
  k8s::SelectorRequirement made;
  made.key = key;
  made.op = op;
  made.values = std::move(values);
  return made;
}

}  // namespace

k8s::Quantity quantity(std::string_view text) {
  const auto parsed = k8s::Quantity::parse(text);
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  return *parsed;
}

k8s::ResourceList resources(Amounts amounts) {
  k8s::ResourceList list;
  for (const auto& [name, amount] : amounts) set(list, name, quantity(amount));
  return list;
}

k8s::Container container(std::string_view name, Amounts requests) {
  k8s::Container made;
  made.name = name;
  made.image = "registry.example/pause:1";
  made.requests = resources(requests);
  return made;
}

k8s::Container sidecar(std::string_view name, Amounts requests) {
  k8s::Container made = container(name, requests);
  made.restart_always = true;
  return made;
}

k8s::SelectorRequirement RequirementBuilder::in(std::vector<std::string> values) const {
  return requirement(key_, k8s::SelectorOperator::kIn, std::move(values));
}
k8s::SelectorRequirement RequirementBuilder::not_in(std::vector<std::string> values) const {
  return requirement(key_, k8s::SelectorOperator::kNotIn, std::move(values));
}
k8s::SelectorRequirement RequirementBuilder::exists() const {
  return requirement(key_, k8s::SelectorOperator::kExists, {});
}
k8s::SelectorRequirement RequirementBuilder::does_not_exist() const {
  return requirement(key_, k8s::SelectorOperator::kDoesNotExist, {});
}
k8s::SelectorRequirement RequirementBuilder::greater_than(std::string value) const {
  return requirement(key_, k8s::SelectorOperator::kGt, {std::move(value)});
}
k8s::SelectorRequirement RequirementBuilder::less_than(std::string value) const {
  return requirement(key_, k8s::SelectorOperator::kLt, {std::move(value)});
}

k8s::NodeSelectorTerm term(Requirements labels, Requirements fields) {
  k8s::NodeSelectorTerm made;
  made.match_expressions = std::move(labels);
  made.match_fields = std::move(fields);
  return made;
}

k8s::NodeSelectorTerm named(std::vector<std::string> names) {
  return term({}, {label("metadata.name").in(std::move(names))});
}

k8s::LabelSelector selector(std::initializer_list<k8s::StringMap::Entry> labels) {
  k8s::LabelSelector made;
  made.match_labels = k8s::StringMap(labels);
  return made;
}

k8s::PodAffinityTerm pods_like(std::initializer_list<k8s::StringMap::Entry> labels,
                               std::string_view topology_key) {
  k8s::PodAffinityTerm made;
  made.label_selector = selector(labels);
  made.topology_key = topology_key;
  return made;
}

PodBuilder::PodBuilder(std::string_view name) {
  pod_.metadata.name = name;
  in_namespace("default");
  pod_.metadata.generation = 1;
  pod_.spec.scheduler_name = "gpu-scheduler";
  pod_.spec.containers.push_back(container("main", {}));
}

PodBuilder& PodBuilder::in_namespace(std::string_view name) {
  pod_.metadata.namespace_ = name;
  return uid("uid-" + pod_.metadata.namespace_ + "-" + pod_.metadata.name);
}
PodBuilder& PodBuilder::uid(std::string_view uid) {
  pod_.metadata.uid = uid;
  return *this;
}
PodBuilder& PodBuilder::labelled(std::string_view key, std::string_view value) {
  pod_.metadata.labels.set(key, value);
  return *this;
}
PodBuilder& PodBuilder::annotated(std::string_view key, std::string_view value) {
  pod_.metadata.annotations.set(key, value);
  return *this;
}

PodBuilder& PodBuilder::served_by(std::string_view scheduler_name) {
  pod_.spec.scheduler_name = scheduler_name;
  return *this;
}
PodBuilder& PodBuilder::priority(std::int32_t priority) {
  pod_.spec.priority = priority;
  return *this;
}
PodBuilder& PodBuilder::gated(std::string_view gate) {
  pod_.spec.scheduling_gates.emplace_back(gate);
  return *this;
}
PodBuilder& PodBuilder::created_at(k8s::Timestamp time) {
  pod_.metadata.creation_timestamp = time;
  return *this;
}
PodBuilder& PodBuilder::generation(std::int64_t generation) {
  pod_.metadata.generation = generation;
  return *this;
}

PodBuilder& PodBuilder::requests(std::string_view resource, std::string_view amount) {
  k8s::Container& main = pod_.spec.containers.front();
  set(main.requests, resource, quantity(amount));
  if (resource.find('/') != std::string_view::npos) set(main.limits, resource, quantity(amount));
  return *this;
}
PodBuilder& PodBuilder::gpus(std::int64_t count) {
  return requests("nvidia.com/gpu", std::to_string(count));
}
PodBuilder& PodBuilder::host_port(std::int32_t port, std::string_view ip,
                                  std::string_view protocol) {
  k8s::ContainerPort made;
  made.host_port = port;
  made.host_ip = ip;
  made.protocol = protocol;
  pod_.spec.containers.front().ports.push_back(std::move(made));
  return *this;
}

PodBuilder& PodBuilder::with(k8s::Container container) {
  pod_.spec.containers.push_back(std::move(container));
  return *this;
}
PodBuilder& PodBuilder::first_runs(k8s::Container init_container) {
  pod_.spec.init_containers.push_back(std::move(init_container));
  return *this;
}
PodBuilder& PodBuilder::overhead(Amounts amounts) {
  pod_.spec.overhead = resources(amounts);
  return *this;
}
PodBuilder& PodBuilder::pod_level(Amounts requests) {
  pod_.spec.resource_requests = resources(requests);
  return *this;
}

k8s::NodeAffinity& PodBuilder::node_affinity() {
  if (!pod_.spec.node_affinity) pod_.spec.node_affinity.emplace();
  return *pod_.spec.node_affinity;
}
PodBuilder& PodBuilder::selects(std::string_view label, std::string_view value) {
  pod_.spec.node_selector.set(label, value);
  return *this;
}
PodBuilder& PodBuilder::requires_nodes(std::vector<k8s::NodeSelectorTerm> any_of) {
  node_affinity().required = k8s::NodeSelector{std::move(any_of)};
  return *this;
}
PodBuilder& PodBuilder::prefers_nodes(std::int32_t weight, k8s::NodeSelectorTerm term) {
  node_affinity().preferred.push_back({weight, std::move(term)});
  return *this;
}
PodBuilder& PodBuilder::tolerates(std::string_view key) {
  k8s::Toleration made;
  made.key = key;
  made.op = k8s::TolerationOperator::kExists;
  pod_.spec.tolerations.push_back(std::move(made));
  return *this;
}
PodBuilder& PodBuilder::tolerates(std::string_view key, std::string_view value,
                                  std::optional<k8s::TaintEffect> effect) {
  k8s::Toleration made;
  made.key = key;
  made.value = value;
  made.effect = effect;
  pod_.spec.tolerations.push_back(std::move(made));
  return *this;
}
PodBuilder& PodBuilder::tolerates_everything() { return tolerates(""); }

PodBuilder& PodBuilder::near(k8s::PodAffinityTerm term) {
  if (!pod_.spec.pod_affinity) pod_.spec.pod_affinity.emplace();
  pod_.spec.pod_affinity->required.push_back(std::move(term));
  return *this;
}
PodBuilder& PodBuilder::away_from(k8s::PodAffinityTerm term) {
  if (!pod_.spec.pod_anti_affinity) pod_.spec.pod_anti_affinity.emplace();
  pod_.spec.pod_anti_affinity->required.push_back(std::move(term));
  return *this;
}
PodBuilder& PodBuilder::rather_near(std::int32_t weight, k8s::PodAffinityTerm term) {
  if (!pod_.spec.pod_affinity) pod_.spec.pod_affinity.emplace();
  pod_.spec.pod_affinity->preferred.push_back({.weight = weight, .term = std::move(term)});
  return *this;
}
PodBuilder& PodBuilder::rather_away_from(std::int32_t weight, k8s::PodAffinityTerm term) {
  if (!pod_.spec.pod_anti_affinity) pod_.spec.pod_anti_affinity.emplace();
  pod_.spec.pod_anti_affinity->preferred.push_back({.weight = weight, .term = std::move(term)});
  return *this;
}
PodBuilder& PodBuilder::spread_over(std::string_view topology_key, bool do_not_schedule) {
  k8s::TopologySpreadConstraint made;
  made.topology_key = topology_key;
  made.do_not_schedule = do_not_schedule;
  return spread_over(std::move(made));
}
PodBuilder& PodBuilder::spread_over(k8s::TopologySpreadConstraint constraint) {
  pod_.spec.topology_spread_constraints.push_back(std::move(constraint));
  return *this;
}
PodBuilder& PodBuilder::mounts_claim(std::string_view claim) {
  k8s::Volume made;
  made.name = "data-" + std::to_string(pod_.spec.volumes.size());
  made.claim_name = claim;
  made.source = "persistentVolumeClaim";
  return mounts(std::move(made));
}
PodBuilder& PodBuilder::mounts(k8s::Volume volume) {
  pod_.spec.volumes.push_back(std::move(volume));
  return *this;
}
PodBuilder& PodBuilder::uses_resource_claim(std::string_view name) {
  pod_.spec.resource_claims.push_back({std::string(name)});
  return *this;
}

PodBuilder& PodBuilder::on(std::string_view node) {
  pod_.spec.node_name = node;
  return phase(k8s::PodPhase::kRunning);
}
PodBuilder& PodBuilder::phase(k8s::PodPhase phase) {
  pod_.status.phase = phase;
  return *this;
}
PodBuilder& PodBuilder::started_at(k8s::Timestamp time) {
  pod_.status.start_time = time;
  return *this;
}
PodBuilder& PodBuilder::failed(std::string_view reason) {
  pod_.status.reason = reason;
  return phase(k8s::PodPhase::kFailed);
}
PodBuilder& PodBuilder::terminating() {
  pod_.metadata.deletion_timestamp = k8s::Timestamp(std::chrono::seconds(1'700'000'000));
  return *this;
}
PodBuilder& PodBuilder::condition(std::string_view type, std::string_view status,
                                  std::string_view reason) {
  k8s::PodCondition made;
  made.type = type;
  made.status = status;
  made.reason = reason;
  pod_.status.conditions.push_back(std::move(made));
  return *this;
}
PodBuilder& PodBuilder::status_of(k8s::ContainerStatus container) {
  pod_.status.container_statuses.push_back(std::move(container));
  return *this;
}

NodeBuilder::NodeBuilder(std::string_view name) {
  node_.metadata.name = name;
  node_.metadata.uid = "uid-" + node_.metadata.name;
  labelled("kubernetes.io/hostname", name);
  cpu("8").memory("32Gi").pods(110);
  condition("Ready", "True");
}

NodeBuilder& NodeBuilder::uid(std::string_view uid) {
  node_.metadata.uid = uid;
  return *this;
}

NodeBuilder& NodeBuilder::labelled(std::string_view key, std::string_view value) {
  node_.metadata.labels.set(key, value);
  return *this;
}
NodeBuilder& NodeBuilder::offers(std::string_view resource, std::string_view amount) {
  set(node_.status.allocatable, resource, quantity(amount));
  return *this;
}
NodeBuilder& NodeBuilder::capacity(std::string_view resource, std::string_view amount) {
  set(node_.status.capacity, resource, quantity(amount));
  return *this;
}
NodeBuilder& NodeBuilder::lacks(std::string_view resource) {
  std::erase_if(node_.status.allocatable,
                [&](const auto& entry) { return entry.first == resource; });
  return *this;
}
NodeBuilder& NodeBuilder::gpus(std::int64_t count) {
  return offers("nvidia.com/gpu", std::to_string(count));
}
NodeBuilder& NodeBuilder::pods(std::int64_t count) { return offers("pods", std::to_string(count)); }
NodeBuilder& NodeBuilder::tainted(std::string_view key, std::string_view value,
                                  k8s::TaintEffect effect) {
  node_.spec.taints.push_back({std::string(key), std::string(value), effect});
  return *this;
}
NodeBuilder& NodeBuilder::cordoned() {
  node_.spec.unschedulable = true;
  return *this;
}
NodeBuilder& NodeBuilder::condition(std::string_view type, std::string_view status,
                                    std::string_view reason) {
  k8s::NodeCondition made;
  made.type = type;
  made.status = status;
  made.reason = reason;
  node_.status.conditions.push_back(std::move(made));
  return *this;
}

k8s::Namespace name_space(std::string_view name,
                          std::initializer_list<k8s::StringMap::Entry> labels) {
  k8s::Namespace made;
  made.metadata.name = name;
  made.metadata.labels = k8s::StringMap(labels);
  return made;
}

k8s::PersistentVolumeClaim claim(std::string_view name, std::string_view volume) {
  k8s::PersistentVolumeClaim made;
  made.metadata.name = name;
  made.metadata.namespace_ = "default";
  made.volume_name = volume;
  made.phase = volume.empty() ? "Pending" : "Bound";
  if (!volume.empty()) made.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  made.access_modes = {"ReadWriteOnce"};
  return made;
}

k8s::PersistentVolume volume(std::string_view name) {
  k8s::PersistentVolume made;
  made.metadata.name = name;
  made.access_modes = {"ReadWriteOnce"};
  return made;
}

}  // namespace tests
