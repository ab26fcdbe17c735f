#include "scheduler/framework/pod_shape.h"

#include "scheduler/base/random.h"
#include "scheduler/framework/parts_writer.h"
#include "scheduler/framework/read_annotations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <functional>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace sched {

namespace {

// Makes text of which different values never give the same: texts and lists with their length
// first, every number with an end mark.
struct KeyText {
  std::string key;

  void number(std::int64_t value) { key.append(std::to_string(value)).push_back(';'); }
  void text(const std::string& value) {
    number(static_cast<std::int64_t>(value.size()));
    key.append(value);
  }
  void list(std::size_t size, std::size_t /*bytes*/) { number(static_cast<std::int64_t>(size)); }
};

// Adds up what texts and lists hold besides themselves.
struct HeapBytes {
  std::size_t bytes = 0;

  void number(std::int64_t /*value*/) {}
  void text(const std::string& value) {
    static const std::size_t kInside = std::string().capacity();
    if (value.capacity() > kInside) bytes += value.capacity() + 1;
  }
  void list(std::size_t /*size*/, std::size_t held) { bytes += held; }
};

// Those entries of a pod's labels or annotations that a shape reads (read_annotations.h). Each map
// may be selected from only once: a second copy would replace the entries of the first.
template <typename Map>
struct Selected {
  Map& entries;
  bool (*is_read)(std::string_view key);
};
template <typename Map>
Selected(Map&, bool (*)(std::string_view)) -> Selected<Map>;

// What a shape reads of a container: not its name, nor its limits.
template <typename Visit, typename... Containers>
bool visit_needs(Visit&& visit, Containers&... containers) {
  return visit(containers.requests...) && visit(containers.ports...) &&
         visit(containers.restart_always...);
}

// Calls `visit` with each part of a pod that shape_of() reads, once: of one pod or of several
// together, until it returns false.
template <typename Visit, typename... Pods>
bool visit_template(Visit&& visit, Pods&... pods) {
  return visit(pods.spec.containers...) && visit(pods.spec.init_containers...) &&
         visit(pods.spec.resource_requests...) && visit(pods.spec.overhead...) &&
         visit(pods.spec.node_selector...) && visit(pods.spec.node_affinity...) &&
         visit(pods.spec.tolerations...) &&
         visit(Selected{pods.metadata.annotations, is_annotation_of_shape}...) &&
         visit(Selected{pods.metadata.labels, is_label_of_shape}...);
}

struct Copy {
  template <typename Part>
  bool operator()(Part& to, const Part& from) const {
    to = from;
    return true;
  }
  bool operator()(std::vector<k8s::Container>& to, const std::vector<k8s::Container>& from) const {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) visit_needs(*this, to[i], from[i]);
    return true;
  }
  bool operator()(Selected<k8s::StringMap> to, Selected<const k8s::StringMap> from) const {
    std::vector<k8s::StringMap::Entry> read;
    const auto is_read = [&from](const auto& entry) { return from.is_read(entry.first); };
    read.reserve(
        static_cast<std::size_t>(std::count_if(from.entries.begin(), from.entries.end(), is_read)));
    std::copy_if(from.entries.begin(), from.entries.end(), std::back_inserter(read), is_read);
    to.entries = k8s::StringMap(std::move(read));
    return true;
  }
};

struct Same {
  template <typename Part>
  bool operator()(const Part& a, const Part& b) const {
    return a == b;
  }
  bool operator()(const std::vector<k8s::Container>& a,
                  const std::vector<k8s::Container>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const auto& x, const auto& y) { return visit_needs(*this, x, y); });
  }
  bool operator()(Selected<const k8s::StringMap> a, Selected<const k8s::StringMap> b) const {
    return gpu::same_of_ours(a.entries, b.entries, a.is_read);
  }
};

// What template_digest() includes of each kind of part.
class Digest {
 public:
  template <typename Part>
  bool operator()(const Part& part) {
    add(part);
    return true;
  }
  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  template <std::integral Number>
  void add(Number more) {
    value_ = mix64(value_ ^ static_cast<std::uint64_t>(more));
  }
  void add(const std::string& text) { add(std::hash<std::string>{}(text)); }
  void add(const std::vector<k8s::Container>& containers) {
    add(containers.size());
    for (const k8s::Container& container : containers) visit_needs(*this, container);
  }
  void add(const k8s::ResourceList& amounts) {
    for (const auto& [name, amount] : amounts) {
      // Equal quantities are the same number, so the same words.
      const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(amount);
      add(words[0] + words[1]);
    }
  }
  // Few pods differ in these alone.
  void add(const std::vector<k8s::ContainerPort>& /*ports*/) {}
  void add(bool /*is_sidecar*/) {}
  void add(const std::vector<k8s::Toleration>& tolerations) {
    add(tolerations.size());
    for (const k8s::Toleration& toleration : tolerations) {
      add(toleration.key);
      add(toleration.value);
    }
  }
  void add(const k8s::StringMap& entries) {
    for (const auto& [key, value] : entries) add(value);
  }
  void add(Selected<const k8s::StringMap> selected) {
    for (const auto& [key, value] : selected.entries) {
      if (selected.is_read(key)) add(value);
    }
  }
  // The contents of an affinity are left out. The pods of a DaemonSet each name their own node;
  // spread over many digests, they would displace all other templates.
  template <typename Part>
  void add(const std::optional<Part>& part) {
    if (part) add(1);
  }

  std::uint64_t value_ = 0;
};

// Adds up what a template holds.
class Held {
 public:
  template <typename Part>
  bool operator()(const Part& part) {
    all_.add(part);
    return true;
  }
  bool operator()(const std::vector<k8s::Container>& containers) {
    containers_ += containers.capacity() * sizeof(k8s::Container);
    for (const k8s::Container& container : containers) visit_needs(*this, container);
    return true;
  }
  bool operator()(Selected<const k8s::StringMap> selected) { return (*this)(selected.entries); }
  [[nodiscard]] std::size_t take() { return containers_ + all_.take().bytes; }

 private:
  PartsWriter<HeapBytes> all_;
  std::size_t containers_ = 0;
};

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

std::int64_t gpu_memory_of(const gpu::Wishes& wishes, const std::vector<ResourceAmount>& requests,
                           const ResourceNames& names) {
  if (wishes.gpu_memory == 0) return 0;
  return saturating_multiply(gpu::pieces_in(requests, names), wishes.gpu_memory);
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
  shape.by_container = by_container(pod, shape.requests, names);
  shape.gpu = gpu::demand_of(shape.requests, pod.spec, names);
  shape.wishes = gpu::wishes_of(pod);
  shape.gpu_memory = gpu_memory_of(shape.wishes, shape.requests, names);
  return shape;
}

k8s::Pod template_of(const k8s::Pod& pod) {
  k8s::Pod sample;
  visit_template(Copy{}, sample, pod);
  return sample;
}

bool same_template(const k8s::Pod& a, const k8s::Pod& b) { return visit_template(Same{}, a, b); }

std::size_t template_digest(const k8s::Pod& pod) {
  Digest digest;
  visit_template(digest, pod);
  return digest.value();
}

std::size_t heap_bytes(const k8s::Pod& sample) {
  Held held;
  visit_template(held, sample);
  return held.take();
}

std::string shape_key(const PodShape& shape) {
  // `demand` and `gpu_memory` follow from the rest, and are left out.
  const auto& [requests, nonzero, node_selector, node_affinity, tolerations, host_ports, node_name,
               too_many_resources, by_container, demand, wishes, gpu_memory] = shape;
  PartsWriter<KeyText> key;
  key.add(requests, nonzero, node_selector, node_affinity, tolerations, host_ports, node_name,
          too_many_resources, by_container, wishes);
  return key.take().key;
}

std::size_t heap_bytes(const PodShape& shape) {
  const auto& [requests, nonzero, node_selector, node_affinity, tolerations, host_ports, node_name,
               too_many_resources, by_container, demand, wishes, gpu_memory] = shape;
  PartsWriter<HeapBytes> all;
  all.add(requests, node_selector, node_affinity, tolerations, host_ports, node_name, by_container,
          wishes, wishes.known_profiles, demand.products);
  return all.take().bytes;
}

}  // namespace sched
