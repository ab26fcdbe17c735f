#include "scheduler/engine/health/rejected_pod.h"

#include "scheduler/framework/resources.h"

#include <algorithm>

namespace sched {
namespace {

bool names_devices(const k8s::ResourceList& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const auto& entry) { return is_extended_resource(entry.first); });
}

// An extended resource is always named as a limit; requests are looked at for pods that did not
// come through an API server.
bool names_devices(const std::vector<k8s::Container>& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const k8s::Container& container) {
    return names_devices(container.limits) || names_devices(container.requests);
  });
}

bool asks_for_several_shares(const k8s::Pod& pod) {
  const auto several = [](const auto& entry) {
    return entry.first.ends_with(".shared") && k8s::Quantity::of(1) < entry.second;
  };
  return std::any_of(
      pod.spec.containers.begin(), pod.spec.containers.end(), [&](const k8s::Container& container) {
        return std::any_of(container.limits.begin(), container.limits.end(), several);
      });
}

}  // namespace

bool asks_for_devices(const k8s::Pod& pod) {
  return names_devices(pod.spec.containers) || names_devices(pod.spec.init_containers);
}

std::optional<event::PodRejected> rejection_of(const k8s::Pod& pod) {
  const std::string& reason = pod.status.reason;
  if (pod.status.phase != k8s::PodPhase::kFailed || pod.spec.node_name.empty()) return std::nullopt;
  if (reason != "UnexpectedAdmissionError" && !reason.starts_with("OutOf")) return std::nullopt;
  if (!asks_for_devices(pod) || asks_for_several_shares(pod)) return std::nullopt;
  const auto& created = pod.metadata.creation_timestamp;
  return event::PodRejected{
      .pod = {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid},
      .node = pod.spec.node_name,
      .reason = reason,
      .at = pod.status.start_time ? *pod.status.start_time : created.value_or(Time{})};
}

}  // namespace sched
