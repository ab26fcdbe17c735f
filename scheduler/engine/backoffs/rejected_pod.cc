#include "scheduler/engine/backoffs/rejected_pod.h"

#include "scheduler/base/resources.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/mig/resource_name.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sched {
namespace {

using Devices = std::map<std::string, std::int64_t>;

void add(Devices& devices, const k8s::ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    if (!is_extended_resource(name) || quantity.value() <= 0) continue;
    std::int64_t& most = devices[name];
    most = std::max(most, quantity.value());
  }
}

// An extended resource is always named as a limit. Requests are read, too, for pods that did not
// come through an API server.
void add(Devices& devices, const std::vector<k8s::Container>& containers) {
  for (const k8s::Container& container : containers) {
    add(devices, container.limits);
    add(devices, container.requests);
  }
}

bool has_shared(const gpu::Inventory& node, std::string_view profile) {
  return std::any_of(node.instances.begin(), node.instances.end(),
                     [&](const auto& each) { return each.shared && each.profile == profile; });
}

}  // namespace

std::map<std::string, std::int64_t> devices_of(const k8s::Pod& pod) {
  Devices devices;
  add(devices, pod.spec.containers);
  add(devices, pod.spec.init_containers);
  return devices;
}

std::optional<event::PodRejected> rejection_of(const k8s::Pod& pod) {
  const std::string& reason = pod.status.reason;
  if (pod.status.phase != k8s::PodPhase::kFailed || pod.spec.node_name.empty()) return std::nullopt;
  const bool is_of_topology = reason == kTopologyReason;
  if (reason != "UnexpectedAdmissionError" && !reason.starts_with("OutOf") && !is_of_topology) {
    return std::nullopt;
  }
  Devices devices = devices_of(pod);
  const auto is_several_shares = [](const auto& device) {
    return device.first.ends_with(".shared") && device.second > 1;
  };
  const bool is_counted =
      !devices.empty() && std::none_of(devices.begin(), devices.end(), is_several_shares);
  if (!is_counted && !is_of_topology) return std::nullopt;
  const auto& created = pod.metadata.creation_timestamp;
  return event::PodRejected{
      .pod = {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid},
      .node = pod.spec.node_name,
      .reason = reason,
      .at = pod.status.start_time ? *pod.status.start_time : created.value_or(Time{}),
      .devices = std::move(devices),
      .requests = requests_by_name(pod)};
}

bool is_by_rule(const event::PodRejected& rejection, const gpu::Inventory* node) {
  return std::any_of(rejection.devices.begin(), rejection.devices.end(), [&](const auto& device) {
    const auto& [name, pieces] = device;
    if (pieces <= 1) return false;
    if (name == gpu::kGpuResource) return node == nullptr || node->sharing != gpu::Sharing::kNone;
    const auto instance = gpu::mig::parse_resource(name);
    return instance && (node == nullptr || has_shared(*node, instance->profile));
  });
}

bool had_room(const event::PodRejected& rejection, const NodeView& node, const Claim* held,
              const ResourceNames& names) {
  if (rejection.requests.empty()) return true;
  Resources others = node.usage.requested;
  if (held != nullptr) {
    others.subtract(held->requests);
    others.add(kPods, -1);
  }
  const auto fits = [&](ResourceId id, std::int64_t asked) {
    return asked <= saturating_subtract(node.allocatable(id), others.get(id));
  };
  return fits(kPods, 1) && std::all_of(rejection.requests.begin(), rejection.requests.end(),
                                       [&](const auto& request) {
                                         const auto& [name, asked] = request;
                                         const auto id = names.find(name);
                                         // No node offers a name that is not known.
                                         return asked <= 0 || (id && fits(*id, asked));
                                       });
}

}  // namespace sched
