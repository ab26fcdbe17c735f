#include "scheduler/framework/pod_requests.h"

#include "scheduler/gpu/resource_kind.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

namespace {

using k8s::Quantity;
using k8s::ResourceList;

constexpr Quantity kDefaultCpu = Quantity::of_milli(100);
constexpr Quantity kDefaultMemory = Quantity::of(200 * 1024 * 1024);

// Amounts by name, in the order in which the names came. A pod has a few names, but a pod of 1 MB
// may have tens of thousands, so there is no linear search. The index is a tree, not a hash table,
// because names can be made up so that their hashes collide. Names are views of what was added.
class Amounts {
 public:
  Amounts() = default;
  explicit Amounts(const ResourceList& list) { override_with(list); }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  [[nodiscard]] const Quantity* find(std::string_view name) const {
    const std::size_t at = position(name);
    return at < entries_.size() ? &entries_[at].second : nullptr;
  }
  // Adds the name as zero if it is missing: a name set to zero is not the same as no name.
  Quantity& operator[](std::string_view name) {
    const std::size_t at = position(name);
    if (at == entries_.size()) append(name);
    return entries_[at].second;
  }

  template <typename List>
  void add(const List& more) {
    for (const auto& [name, amount] : more) {
      Quantity& sum = (*this)[name];
      sum = sum + amount;
    }
  }
  void raise_to(std::string_view name, Quantity floor) {
    const bool known = find(name) != nullptr;
    Quantity& value = (*this)[name];
    if (!known || value < floor) value = floor;
  }
  template <typename List>
  void raise_to(const List& floor) {
    for (const auto& [name, amount] : floor) raise_to(name, amount);
  }
  template <typename List>
  void override_with(const List& values) {
    for (const auto& [name, amount] : values) (*this)[name] = amount;
  }

 private:
  static constexpr std::size_t kFew = 16;

  // The index of that name's entry; size() if there is none.
  [[nodiscard]] std::size_t position(std::string_view name) const {
    if (entries_.size() > kFew) {
      const auto found = index_.find(name);
      return found == index_.end() ? entries_.size() : found->second;
    }
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return static_cast<std::size_t>(found - entries_.begin());
  }

  void append(std::string_view name) {
    entries_.emplace_back(name, Quantity());
    if (entries_.size() <= kFew) return;
    for (std::size_t i = index_.size(); i < entries_.size(); ++i) {
      index_.emplace(entries_[i].first, i);
    }
  }

  std::vector<std::pair<std::string_view, Quantity>> entries_;
  std::map<std::string_view, std::size_t> index_;  // empty while there are few
};

// How requests of containers are read.
struct Reading {
  bool infeasible_resize = false;         // the node will not grant what the spec asks for
  const ResourceList* missing = nullptr;  // cpu and memory of a container that does not name it;
                                          // then nothing but cpu and memory is of interest
  bool with_status = false;               // the pod has a node: see effective()
  std::map<std::string_view, const k8s::ContainerStatus*> statuses;  // by container, if with_status

  [[nodiscard]] bool counts(std::string_view name) const {
    return missing == nullptr || name == "cpu" || name == "memory";
  }
};

Reading reading_of(const k8s::Pod& pod, bool bound) {
  Reading reading;
  reading.with_status = bound;
  if (!bound) return reading;
  const k8s::PodCondition* resize = pod.condition("PodResizePending");
  reading.infeasible_resize = resize != nullptr && resize->reason == "Infeasible";
  // Names are unique over both lists; upstream gives init containers precedence.
  for (const auto* statuses :
       {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const k8s::ContainerStatus& status : *statuses) {
      reading.statuses.emplace(status.name, &status);
    }
  }
  return reading;
}

// During an in-place resize a container holds the largest of what is asked (unless that will never
// be granted), what it has, and what the node has reserved for it.
template <typename List>
Amounts effective(const List& spec, const ResourceList& actual,
                  const std::optional<ResourceList>& allocated, const Reading& reading) {
  Amounts result(actual);
  if (allocated) result.raise_to(*allocated);
  if (!reading.infeasible_resize) result.raise_to(spec);
  return result;
}

Amounts requests_of(const k8s::Container& container, bool resizable, const Reading& reading) {
  Amounts requests;
  for (const auto& [name, amount] : container.requests) {
    if (reading.counts(name)) requests[name] = amount;
  }
  if (resizable) {
    const auto found = reading.statuses.find(container.name);
    if (found != reading.statuses.end() && found->second->requests) {
      const k8s::ContainerStatus& status = *found->second;
      requests =
          effective(container.requests, *status.requests, status.allocated_resources, reading);
    }
  }
  if (reading.missing != nullptr) {
    for (const auto& [name, amount] : *reading.missing) {
      if (requests.find(name) == nullptr) requests[name] = amount;
    }
  }
  return requests;
}

// Containers and sidecars run together; before that, each init container runs beside the sidecars
// that were started ahead of it. The pod takes the larger of the two, resource by resource.
//
// Each container costs only the names that it has itself: for other names, the peak is already at
// least the sum of the sidecars.
Amounts containers_of(const k8s::Pod& pod, const Reading& reading) {
  Amounts running;
  for (const k8s::Container& container : pod.spec.containers) {
    running.add(requests_of(container, true, reading));
  }
  Amounts sidecars;
  Amounts init_peak;
  for (const k8s::Container& container : pod.spec.init_containers) {
    const Amounts requests = requests_of(container, container.restart_always, reading);
    if (container.restart_always) {
      running.add(requests);
      sidecars.add(requests);
    }
    for (const auto& [name, amount] : requests) {
      const Quantity* beside = sidecars.find(name);
      const Quantity now = container.restart_always ? *beside
                           : beside != nullptr      ? amount + *beside
                                                    : amount;
      init_peak.raise_to(name, now);
    }
  }
  running.raise_to(init_peak);
  return running;
}

bool is_huge_pages(std::string_view name) { return name.starts_with("hugepages-"); }

bool is_pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || is_huge_pages(name);
}

bool has_pod_level(const k8s::Pod& pod) {
  const auto& list = pod.spec.resource_requests;
  return list && std::any_of(list->begin(), list->end(),
                             [](const auto& entry) { return is_pod_level(entry.first); });
}

// What the pod as a whole asks for; during a resize, what it is given of that.
Amounts pod_level_of(const k8s::Pod& pod, const Reading& reading) {
  Amounts requests;
  for (const auto& [name, amount] : *pod.spec.resource_requests) {
    if (is_pod_level(name)) requests[name] = amount;
  }
  if (!reading.with_status || !pod.status.resource_requests) return requests;
  const Amounts held =
      effective(requests, *pod.status.resource_requests, pod.status.allocated_resources, reading);
  Amounts given;
  for (const auto& [name, amount] : requests) {
    const Quantity* now = held.find(name);
    given[name] = now != nullptr ? *now : Quantity();
  }
  return given;
}

Amounts sum_of(const k8s::Pod& pod, const Reading& reading) {
  Amounts sum = containers_of(pod, reading);
  if (has_pod_level(pod)) sum.override_with(pod_level_of(pod, reading));
  sum.add(pod.spec.overhead);
  return sum;
}

// The names for which a container of a bound pod gets a default. Upstream counts a bound pod with
// pod-level requests by those alone if they, or its containers, name the resource.
ResourceList defaults_of_bound(const k8s::Pod& pod, const Reading& reading) {
  ResourceList defaults = {{"cpu", kDefaultCpu}, {"memory", kDefaultMemory}};
  if (!has_pod_level(pod)) return defaults;
  const Amounts named = sum_of(pod, reading);
  std::erase_if(defaults, [&](const auto& entry) { return named.find(entry.first) != nullptr; });
  return defaults;
}

// The entries for which `counts` is true. No API server accepts negative amounts; here they count
// as zero.
template <typename Counts>
Resources to_resources(const Amounts& amounts, ResourceNames& names, const Counts& counts) {
  ResourceList list;
  list.reserve(amounts.size());
  for (const auto& [name, amount] : amounts) {
    if (name == "pods" || !counts(name, amount)) continue;
    list.emplace_back(name, std::max(amount, Quantity()));
  }
  return to_resources(list, names);
}

// With more, containers are not compared one by one.
constexpr std::size_t kFewContainers = 16;

bool says_what_it_asks_for(const std::vector<k8s::Container>& containers,
                           const std::vector<k8s::ContainerStatus>& statuses) {
  if (statuses.size() > kFewContainers) return false;
  return std::all_of(statuses.begin(), statuses.end(), [&](const k8s::ContainerStatus& status) {
    if (!status.requests) return true;  // then nothing else of the status counts
    const auto asked = std::find_if(
        containers.begin(), containers.end(),
        [&](const k8s::Container& container) { return container.name == status.name; });
    return asked != containers.end() && *status.requests == asked->requests &&
           (!status.allocated_resources || *status.allocated_resources == asked->requests);
  });
}

// An upper bound of the number of names.
std::size_t amounts_in(const k8s::Pod::Spec& spec) {
  std::size_t amounts = spec.overhead.size();
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const k8s::Container& container : *containers) amounts += container.requests.size();
  }
  return amounts;
}

}  // namespace

PendingRequests requests_of_pending(const k8s::Pod& pod, ResourceNames& names) {
  const Amounts sum = sum_of(pod, reading_of(pod, false));
  PendingRequests requests;
  requests.too_many = sum.size() > kMostResourcesOfPod;
  requests.amounts = to_resources(sum, names, [&](std::string_view name, Quantity amount) {
    if (amount < Quantity()) return false;
    return !requests.too_many || names.find(name).has_value();
  });
  return requests;
}

Resources requests_of_bound(const k8s::Pod& pod, ResourceNames& names) {
  return to_resources(sum_of(pod, reading_of(pod, true)), names,
                      [](std::string_view, Quantity) { return true; });
}

void set_pod_level_requests(k8s::Pod& pod) {
  if (!pod.spec.resource_limits || pod.spec.resource_limits->empty()) return;
  std::optional<ResourceList>& requests = pod.spec.resource_requests;
  Amounts all;
  if (requests) all.override_with(*requests);
  const auto add = [&](std::string_view name, Quantity amount) {
    if (is_pod_level(name) && all.find(name) == nullptr) all[name] = amount;
  };
  // Huge pages cannot be overcommitted: they are as much as the limit.
  for (const auto& [name, amount] : containers_of(pod, reading_of(pod, false))) {
    if (!is_huge_pages(name)) add(name, amount);
  }
  for (const auto& [name, amount] : *pod.spec.resource_limits) add(name, amount);
  if (all.size() == 0) return;
  ResourceList made;
  for (const auto& [name, amount] : all) made.emplace_back(name, amount);
  requests = std::move(made);
}

bool asks_as_pending(const k8s::Pod& bound) {
  return !has_pod_level(bound) && amounts_in(bound.spec) <= kMostResourcesOfPod &&
         says_what_it_asks_for(bound.spec.containers, bound.status.container_statuses) &&
         says_what_it_asks_for(bound.spec.init_containers, bound.status.init_container_statuses);
}

NonZeroRequests nonzero_requests_of(const k8s::Pod& pod, bool bound) {
  Reading reading = reading_of(pod, bound);
  const ResourceList defaults =
      bound ? defaults_of_bound(pod, reading)
            : ResourceList{{"cpu", kDefaultCpu}, {"memory", kDefaultMemory}};
  reading.missing = &defaults;
  const Amounts sum = sum_of(pod, reading);
  const Quantity* cpu = sum.find("cpu");
  const Quantity* memory = sum.find("memory");
  return {.cpu = cpu != nullptr ? cpu->milli_value() : 0,
          .memory = memory != nullptr ? memory->value() : 0};
}

bool asks_for_gpus(const k8s::Pod& pod) {
  const auto asks = [](const k8s::Container& container) {
    return std::any_of(container.limits.begin(), container.limits.end(),
                       [](const auto& limit) { return gpu::is_gpu_resource(limit.first); });
  };
  const auto some_asks = [&](const std::vector<k8s::Container>& containers) {
    return std::any_of(containers.begin(), containers.end(), asks);
  };
  return some_asks(pod.spec.init_containers) || some_asks(pod.spec.containers);
}

std::map<std::string, std::int64_t> requests_by_name(const k8s::Pod& pod) {
  ResourceNames names;
  std::map<std::string, std::int64_t> requests;
  requests_of_bound(pod, names).for_each([&](ResourceId id, std::int64_t amount) {
    requests.emplace(names.name(id), amount);
  });
  return requests;
}

}  // namespace sched
