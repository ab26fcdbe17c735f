#include "scheduler/framework/pod_requests.h"

#include <algorithm>
#include <string_view>

namespace sched {

namespace {

using k8s::Quantity;
using k8s::ResourceList;

constexpr Quantity kDefaultCpu = Quantity::of_milli(100);
constexpr Quantity kDefaultMemory = Quantity::of(200 * 1024 * 1024);

const Quantity* find(const ResourceList& list, std::string_view name) {
  for (const auto& [known, amount] : list) {
    if (known == name) return &amount;
  }
  return nullptr;
}

// The amount of `name`, added as zero if need be: a name set to zero is not the same as no name.
Quantity& at(ResourceList& list, std::string_view name) {
  for (auto& [known, amount] : list) {
    if (known == name) return amount;
  }
  return list.emplace_back(std::string(name), Quantity()).second;
}

void add(ResourceList& list, const ResourceList& more) {
  for (const auto& [name, amount] : more) {
    Quantity& sum = at(list, name);
    sum = sum + amount;
  }
}

void raise_to(ResourceList& list, const ResourceList& floor) {
  for (const auto& [name, amount] : floor) {
    const bool known = find(list, name) != nullptr;
    Quantity& value = at(list, name);
    if (!known || value < amount) value = amount;
  }
}

// How requests of containers are read.
struct Reading {
  bool with_status = false;               // the pod has a node: see effective()
  bool infeasible_resize = false;         // what the spec asks for will not be granted there
  const ResourceList* missing = nullptr;  // what a container asks for that does not name it
};

Reading reading_of(const k8s::Pod& pod, bool bound) {
  Reading reading;
  reading.with_status = bound;
  if (bound) {
    const k8s::PodCondition* resize = pod.condition("PodResizePending");
    reading.infeasible_resize = resize != nullptr && resize->reason == "Infeasible";
  }
  return reading;
}

// During an in-place resize a container holds the largest of what is asked (unless that will never
// be granted), what it has, and what the node has set aside for it.
ResourceList effective(const ResourceList& spec, const ResourceList& actual,
                       const std::optional<ResourceList>& allocated, const Reading& reading) {
  ResourceList result = actual;
  if (allocated) raise_to(result, *allocated);
  if (!reading.infeasible_resize) raise_to(result, spec);
  return result;
}

const k8s::ContainerStatus* status_of(const k8s::Pod& pod, const k8s::Container& container) {
  // Names are unique over both lists; upstream lets init containers win.
  for (const auto* statuses :
       {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const k8s::ContainerStatus& status : *statuses) {
      if (status.name == container.name) return &status;
    }
  }
  return nullptr;
}

ResourceList requests_of(const k8s::Pod& pod, const k8s::Container& container, bool resizable,
                         const Reading& reading) {
  ResourceList requests = container.requests;
  if (reading.with_status && resizable) {
    const k8s::ContainerStatus* status = status_of(pod, container);
    if (status != nullptr && status->requests) {
      requests =
          effective(container.requests, *status->requests, status->allocated_resources, reading);
    }
  }
  if (reading.missing != nullptr) {
    for (const auto& [name, amount] : *reading.missing) {
      if (find(requests, name) == nullptr) requests.emplace_back(name, amount);
    }
  }
  return requests;
}

// Containers and sidecars run together; before that, each init container runs beside the sidecars
// that were started ahead of it. The pod takes the larger of the two, resource by resource.
ResourceList containers_of(const k8s::Pod& pod, const Reading& reading) {
  ResourceList running;
  for (const k8s::Container& container : pod.spec.containers) {
    add(running, requests_of(pod, container, true, reading));
  }
  ResourceList sidecars;
  ResourceList init_peak;
  for (const k8s::Container& container : pod.spec.init_containers) {
    ResourceList requests = requests_of(pod, container, container.restart_always, reading);
    if (container.restart_always) {
      add(running, requests);
      add(sidecars, requests);
      raise_to(init_peak, sidecars);
    } else {
      add(requests, sidecars);
      raise_to(init_peak, requests);
    }
  }
  raise_to(running, init_peak);
  return running;
}

bool is_pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool has_pod_level(const k8s::Pod& pod) {
  const auto& list = pod.spec.resource_requests;
  return list && std::any_of(list->begin(), list->end(),
                             [](const auto& entry) { return is_pod_level(entry.first); });
}

// What the pod as a whole asks for, of which it is given what a resize under way allows.
ResourceList pod_level_of(const k8s::Pod& pod, const Reading& reading) {
  ResourceList requests = *pod.spec.resource_requests;
  std::erase_if(requests, [](const auto& entry) { return !is_pod_level(entry.first); });
  if (!reading.with_status || !pod.status.resource_requests) return requests;
  const ResourceList held =
      effective(requests, *pod.status.resource_requests, pod.status.allocated_resources, reading);
  for (auto& [name, amount] : requests) {
    const Quantity* now = find(held, name);
    amount = now != nullptr ? *now : Quantity();
  }
  return requests;
}

void override_with(ResourceList& list, const ResourceList& values) {
  for (const auto& [name, amount] : values) at(list, name) = amount;
}

ResourceList sum_of(const k8s::Pod& pod, const Reading& reading) {
  ResourceList sum = containers_of(pod, reading);
  if (has_pod_level(pod)) override_with(sum, pod_level_of(pod, reading));
  add(sum, pod.spec.overhead);
  return sum;
}

// Which names a container of a bound pod is given a default for. Upstream counts a bound pod that
// has pod-level requests by those alone where they, or its containers, name the resource.
ResourceList defaults_of_bound(const k8s::Pod& pod, const Reading& reading) {
  ResourceList defaults = {{"cpu", kDefaultCpu}, {"memory", kDefaultMemory}};
  if (!has_pod_level(pod)) return defaults;
  const ResourceList named = sum_of(pod, reading);
  std::erase_if(defaults, [&](const auto& entry) { return find(named, entry.first) != nullptr; });
  return defaults;
}

Resources without_pods(Resources resources) {
  resources.set(kPods, 0);
  return resources;
}

bool says_what_it_asks_for(const std::vector<k8s::Container>& containers,
                           const std::vector<k8s::ContainerStatus>& statuses) {
  return std::all_of(statuses.begin(), statuses.end(), [&](const k8s::ContainerStatus& status) {
    if (!status.requests) return true;  // then nothing else of it counts
    const auto asked = std::find_if(
        containers.begin(), containers.end(),
        [&](const k8s::Container& container) { return container.name == status.name; });
    return asked != containers.end() && *status.requests == asked->requests &&
           (!status.allocated_resources || *status.allocated_resources == asked->requests);
  });
}

}  // namespace

Resources requests_of_pending(const k8s::Pod& pod, ResourceNames& names) {
  Resources requests = without_pods(to_resources(sum_of(pod, reading_of(pod, false)), names));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    requests.set(id, std::max<std::int64_t>(requests.get(id), 0));
  }
  return requests;
}

Resources requests_of_bound(const k8s::Pod& pod, ResourceNames& names) {
  return without_pods(to_resources(sum_of(pod, reading_of(pod, true)), names));
}

bool asks_as_pending(const k8s::Pod& bound) {
  return !has_pod_level(bound) &&
         says_what_it_asks_for(bound.spec.containers, bound.status.container_statuses) &&
         says_what_it_asks_for(bound.spec.init_containers, bound.status.init_container_statuses);
}

NonZeroRequests nonzero_requests_of(const k8s::Pod& pod, bool bound) {
  Reading reading = reading_of(pod, bound);
  const ResourceList defaults =
      bound ? defaults_of_bound(pod, reading)
            : ResourceList{{"cpu", kDefaultCpu}, {"memory", kDefaultMemory}};
  reading.missing = &defaults;
  const ResourceList sum = sum_of(pod, reading);
  const Quantity* cpu = find(sum, "cpu");
  const Quantity* memory = find(sum, "memory");
  return {.cpu = cpu != nullptr ? cpu->milli_value() : 0,
          .memory = memory != nullptr ? memory->value() : 0};
}

}  // namespace sched
