// The fields of a GpuQuota.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/meta.h"
#include "k8s-client/api/fields/selector.h"
#include "k8s-client/api/gpu_quota.h"

namespace k8s {

void fields(Of<GpuQuota::Line> auto& line, auto&& field) {
  field("gpuType", line.gpu_type, Always{});
  field("guaranteed", line.guaranteed);
  field("limit", line.limit);
  field("lendable", line.lendable);
}

void fields(Of<GpuQuota::Spec> auto& spec, auto&& field) {
  field("namespaces", spec.namespaces);
  field("namespaceSelector", spec.namespace_selector);
  field("cohort", spec.cohort);
  field("parent", spec.parent);
  field("weight", spec.weight);
  field("quotas", spec.quotas);
  field("maxGpusPerPod", spec.max_gpus_per_pod);
  field("order", spec.order);
  field("whenDeleted", spec.when_deleted);
}

void fields(Of<GpuQuota::Use> auto& use, auto&& field) {
  field("guaranteed", use.guaranteed);
  field("used", use.used);
  field("borrowed", use.borrowed);
  field("lent", use.lent);
  field("pending", use.pending);
}

void fields(Of<GpuQuota::LineStatus> auto& line, auto&& field) {
  field("gpuType", line.gpu_type, Always{});
  fields(line.use, field);
}

void fields(Of<Condition> auto& condition, auto&& field) {
  field("type", condition.type, Always{});
  field("status", condition.status, Always{});
  field("observedGeneration", condition.observed_generation);
  field("lastTransitionTime", condition.last_transition_time);
  field("reason", condition.reason, Always{});
  field("message", condition.message, Always{});
}

// The lists are written even if they are empty: in a patch this removes the previous value.
void fields(Of<GpuQuota::Status> auto& status, auto&& field) {
  field("observedGeneration", status.observed_generation, Always{});
  field("total", status.total);
  field("quotas", status.quotas, Always{});
  field("conditions", status.conditions, Always{});
}

void fields(Of<GpuQuota> auto& quota, auto&& field) {
  field("metadata", quota.metadata);
  field("spec", quota.spec);
  // It is written by a scheduler; any other content counts as no status.
  field("status", quota.status, Lenient{});
}

}  // namespace k8s
