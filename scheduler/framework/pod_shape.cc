#include "scheduler/framework/pod_shape.h"

#include "scheduler/base/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <string_view>

namespace sched {

namespace {

// Writes values so that different ones never read alike: texts and lists with their length in
// front, every number with an end.
class KeyWriter {
 public:
  void number(std::int64_t value) { key_.append(std::to_string(value)).push_back(';'); }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    key_.append(value);
  }
  void count(std::size_t value) { number(static_cast<std::int64_t>(value)); }
  template <typename List, typename Write>
  void list(const List& values, Write write) {
    count(values.size());
    for (const auto& value : values) write(value);
  }
  [[nodiscard]] std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

void write(KeyWriter& key, const k8s::SelectorRequirement& requirement) {
  key.text(requirement.key);
  key.number(static_cast<std::int64_t>(requirement.op));
  key.list(requirement.values, [&](const std::string& value) { key.text(value); });
}

void write(KeyWriter& key, const k8s::NodeSelectorTerm& term) {
  const auto each = [&](const k8s::SelectorRequirement& requirement) { write(key, requirement); };
  key.list(term.match_expressions, each);
  key.list(term.match_fields, each);
}

void write(KeyWriter& key, const std::optional<k8s::NodeAffinity>& affinity) {
  key.number(affinity ? 1 : 0);
  if (!affinity) return;
  key.number(affinity->required ? 1 : 0);
  if (affinity->required) {
    key.list(affinity->required->terms,
             [&](const k8s::NodeSelectorTerm& term) { write(key, term); });
  }
  key.list(affinity->preferred, [&](const k8s::PreferredNodeTerm& preferred) {
    key.number(preferred.weight);
    write(key, preferred.preference);
  });
}

void write(KeyWriter& key, const k8s::Toleration& toleration) {
  key.text(toleration.key);
  key.number(static_cast<std::int64_t>(toleration.op));
  key.text(toleration.value);
  key.number(toleration.effect ? static_cast<std::int64_t>(*toleration.effect) : -1);
}

// What follows from the node selection is left out.
void write(KeyWriter& key, const gpu::Wishes& wishes) {
  key.list(wishes.types, [&](const gpu::TypeName& type) { key.text(type.text); });
  key.number(wishes.min_memory);
  key.number(wishes.min_compute.major);
  key.number(wishes.min_compute.minor);
  for (const std::int32_t part : wishes.min_driver.parts) key.number(part);
  for (const std::int32_t part : wishes.min_cuda.parts) key.number(part);
  key.number(static_cast<std::int64_t>(wishes.sharing));
  key.text(wishes.mig_profile);
  key.list(wishes.problems, [&](const gpu::WishProblem& problem) { key.text(problem.text); });
}

void write(KeyWriter& key, const HostPort& port) {
  key.text(port.ip);
  key.text(port.protocol);
  key.number(port.port);
}

// What template_digest() mixes.
class Digest {
 public:
  explicit Digest(std::uint64_t value) : value_(value) {}

  void add(std::uint64_t more) { value_ = mix64(value_ ^ more); }

  void add(const std::vector<k8s::Container>& containers) {
    add(containers.size());
    for (const k8s::Container& container : containers) {
      add(container.requests.size());
      for (const auto& [name, amount] : container.requests) {
        // Equal quantities are the same number, so the same words.
        const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(amount);
        add(words[0] + words[1]);
      }
    }
  }

  void add(const std::vector<k8s::Toleration>& tolerations) {
    add(tolerations.size());
    for (const k8s::Toleration& toleration : tolerations) {
      add(toleration.key);
      add(toleration.value);
    }
  }

  // Of the entries whose keys are `counted`.
  template <typename Counted>
  void add_values(const k8s::StringMap& entries, Counted counted) {
    for (const auto& [key, value] : entries) {
      if (counted(key)) add(value);
    }
  }

  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  void add(std::string_view text) { add(std::hash<std::string_view>{}(text)); }

  std::uint64_t value_;
};

// Of a container, what a shape reads: not who it is, nor its limits.
bool same_needs(const k8s::Container& a, const k8s::Container& b) {
  return a.requests == b.requests && a.ports == b.ports;
}

// An init container gets its host ports only where it is a sidecar.
bool same_first_needs(const k8s::Container& a, const k8s::Container& b) {
  return a.restart_always == b.restart_always && a.requests == b.requests &&
         (!a.restart_always || a.ports == b.ports);
}

std::vector<k8s::Container> needs_of(const std::vector<k8s::Container>& containers) {
  std::vector<k8s::Container> needs;
  needs.reserve(containers.size());
  for (const k8s::Container& container : containers) {
    k8s::Container& need = needs.emplace_back();
    need.requests = container.requests;
    need.ports = container.ports;
    need.restart_always = container.restart_always;
  }
  return needs;
}

bool same_containers(const k8s::Pod::Spec& a, const k8s::Pod::Spec& b) {
  return std::equal(a.containers.begin(), a.containers.end(), b.containers.begin(),
                    b.containers.end(), same_needs) &&
         std::equal(a.init_containers.begin(), a.init_containers.end(), b.init_containers.begin(),
                    b.init_containers.end(), same_first_needs);
}

// Whether the entries whose keys are ours are the same.
bool same_of_ours(const k8s::StringMap& a, const k8s::StringMap& b) {
  const auto is_ours = [](const k8s::StringMap::Entry& entry) { return gpu::is_ours(entry.first); };
  auto x = std::find_if(a.begin(), a.end(), is_ours);
  auto y = std::find_if(b.begin(), b.end(), is_ours);
  while (x != a.end() && y != b.end() && *x == *y) {
    x = std::find_if(std::next(x), a.end(), is_ours);
    y = std::find_if(std::next(y), b.end(), is_ours);
  }
  return x == a.end() && y == b.end();
}

// By ascending id.
const ResourceAmount* find_amount(const std::vector<ResourceAmount>& amounts, ResourceId id) {
  const auto found = std::lower_bound(
      amounts.begin(), amounts.end(), id,
      [](const ResourceAmount& amount, ResourceId wanted) { return amount.resource < wanted; });
  return found != amounts.end() && found->resource == id ? &*found : nullptr;
}

// The most that one container asks of a resource.
struct MostOf {
  std::string_view name;
  ResourceAmount request;  // of the whole pod
  std::int64_t most = 0;
};

void raise(std::vector<MostOf>& by_name, const std::vector<k8s::Container>& containers) {
  for (const k8s::Container& container : containers) {
    for (const auto& [name, quantity] : container.requests) {
      const auto at = std::lower_bound(
          by_name.begin(), by_name.end(), name,
          [](const MostOf& known, std::string_view wanted) { return known.name < wanted; });
      if (at == by_name.end() || at->name != name) continue;
      at->most = std::max(at->most, quantity.value());
    }
  }
}

std::vector<ResourceAmount> by_container(const k8s::Pod& pod,
                                         const std::vector<ResourceAmount>& requests,
                                         const ResourceNames& names) {
  std::vector<ResourceAmount> amounts;
  if (pod.spec.containers.size() + pod.spec.init_containers.size() < 2) return amounts;
  std::vector<MostOf> extended;
  for (const ResourceAmount& request : requests) {
    const std::string& name = names.name(request.resource);
    if (is_extended_resource(name)) extended.push_back({.name = name, .request = request});
  }
  const auto by_name = [](const MostOf& a, const MostOf& b) { return a.name < b.name; };
  std::sort(extended.begin(), extended.end(), by_name);
  raise(extended, pod.spec.containers);
  raise(extended, pod.spec.init_containers);
  for (const auto& [name, request, most] : extended) {
    if (most < request.amount) amounts.push_back({request.resource, most});
  }
  std::sort(amounts.begin(), amounts.end(), [](const ResourceAmount& a, const ResourceAmount& b) {
    return a.resource < b.resource;
  });
  return amounts;
}

}  // namespace

std::int64_t PodShape::request(ResourceId id) const {
  const ResourceAmount* found = find_amount(requests, id);
  return found == nullptr ? 0 : found->amount;
}

std::int64_t PodShape::request_of_one_container(ResourceId id) const {
  const ResourceAmount* found = find_amount(by_container, id);
  return found == nullptr ? request(id) : found->amount;
}

PodShape shape_of(const k8s::Pod& pod, ResourceNames& names) {
  PodShape shape;
  const auto [requests, too_many] = requests_of_pending(pod, names);
  shape.too_many_resources = too_many;
  requests.for_each([&](ResourceId id, std::int64_t amount) {
    shape.requests.push_back({id, amount});
  });
  shape.nonzero = nonzero_requests_of(pod, false);
  shape.node_selector = pod.spec.node_selector;
  shape.node_affinity = pod.spec.node_affinity;
  shape.tolerations = pod.spec.tolerations;
  shape.host_ports = host_ports_of(pod);
  shape.node_name = pod.spec.node_name;
  shape.priority = pod.spec.priority;
  shape.by_container = by_container(pod, shape.requests, names);
  shape.gpu = gpu::demand_of(shape.requests, pod.spec, names);
  shape.wishes = gpu::wishes_of(pod);
  return shape;
}

k8s::Pod template_of(const k8s::Pod& pod) {
  k8s::Pod sample;
  const k8s::Pod::Spec& spec = pod.spec;
  sample.spec.priority = spec.priority;
  sample.spec.init_containers = needs_of(spec.init_containers);
  sample.spec.containers = needs_of(spec.containers);
  sample.spec.resource_requests = spec.resource_requests;
  sample.spec.overhead = spec.overhead;
  sample.spec.node_selector = spec.node_selector;
  sample.spec.node_affinity = spec.node_affinity;
  sample.spec.tolerations = spec.tolerations;
  for (const auto& [key, value] : pod.metadata.annotations) {
    if (gpu::is_ours(key)) sample.metadata.annotations.set(key, value);
  }
  for (const auto& [key, value] : pod.metadata.labels) {
    if (gpu::is_ours(key)) sample.metadata.labels.set(key, value);
  }
  return sample;
}

bool same_template(const k8s::Pod& a, const k8s::Pod& b) {
  const k8s::Pod::Spec& x = a.spec;
  const k8s::Pod::Spec& y = b.spec;
  return x.priority == y.priority && same_containers(x, y) &&
         x.resource_requests == y.resource_requests && x.overhead == y.overhead &&
         x.node_selector == y.node_selector && x.node_affinity == y.node_affinity &&
         x.tolerations == y.tolerations &&
         same_of_ours(a.metadata.annotations, b.metadata.annotations) &&
         same_of_ours(a.metadata.labels, b.metadata.labels);
}

std::size_t template_digest(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  Digest digest(static_cast<std::uint32_t>(spec.priority));
  digest.add(spec.containers);
  digest.add(spec.init_containers);
  digest.add_values(spec.node_selector, [](std::string_view) { return true; });
  digest.add(spec.tolerations);
  // What an affinity says is left out: a daemon's pods each name their own node, and would crowd
  // out all other templates if they were spread over many digests.
  digest.add(spec.node_affinity ? 1 : 0);
  digest.add_values(pod.metadata.annotations, gpu::is_ours);
  digest.add_values(pod.metadata.labels, gpu::is_ours);
  return digest.value();
}

std::string shape_key(const PodShape& shape) {
  KeyWriter key;
  key.list(shape.requests, [&](const ResourceAmount& request) {
    key.number(static_cast<std::int64_t>(request.resource));
    key.number(request.amount);
  });
  key.list(shape.by_container, [&](const ResourceAmount& request) {
    key.number(static_cast<std::int64_t>(request.resource));
    key.number(request.amount);
  });
  key.number(shape.nonzero.cpu);
  key.number(shape.nonzero.memory);
  key.list(shape.node_selector, [&](const k8s::StringMap::Entry& entry) {
    key.text(entry.first);
    key.text(entry.second);
  });
  write(key, shape.node_affinity);
  key.list(shape.tolerations, [&](const k8s::Toleration& toleration) { write(key, toleration); });
  key.list(shape.host_ports, [&](const HostPort& port) { write(key, port); });
  key.text(shape.node_name);
  key.number(shape.priority);
  key.number(shape.too_many_resources ? 1 : 0);
  if (shape.wishes != gpu::Wishes{}) write(key, shape.wishes);
  return key.take();
}

}  // namespace sched
