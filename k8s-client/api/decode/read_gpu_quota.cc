#include "k8s-client/api/decode/objects.h"

#include <utility>

namespace k8s::json {
namespace {

bool read(JsonValue value, GpuQuota::Order& out) {
  std::string text;
  if (!json::read(value, text)) return false;
  out = text == "BestEffort" ? GpuQuota::Order::kBestEffort
        : text == "Strict"   ? GpuQuota::Order::kStrict
                             : GpuQuota::Order::kUnknown;
  return true;
}

bool read(JsonValue value, GpuQuota::WhenDeleted& out) {
  std::string text;
  if (!json::read(value, text)) return false;
  out = text == "Open" ? GpuQuota::WhenDeleted::kOpen : GpuQuota::WhenDeleted::kClose;
  return true;
}

bool read(JsonValue value, GpuQuota::Line& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "gpuType") return json::read(field, out.gpu_type);
    if (key == "guaranteed") return json::read(field, out.guaranteed);
    if (key == "limit") return read_optional(field, out.limit);
    if (key == "lendable") return read_optional(field, out.lendable);
    return true;
  });
}

bool read_lines(JsonValue value, std::vector<GpuQuota::Line>& out) {
  out.clear();
  return value.items([&](JsonValue item) { return read(item, out.emplace_back()); });
}

bool read(JsonValue value, GpuQuota::Spec& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "namespaces") return read_list(field, out.namespaces);
    if (key == "namespaceSelector") return read_optional(field, out.namespace_selector);
    if (key == "cohort") return json::read(field, out.cohort);
    if (key == "parent") return json::read(field, out.parent);
    if (key == "weight") return read_optional(field, out.weight);
    if (key == "quotas") return read_lines(field, out.quotas);
    if (key == "maxGpusPerPod") return read_optional(field, out.max_gpus_per_pod);
    if (key == "order") return read(field, out.order);
    if (key == "whenDeleted") return read(field, out.when_deleted);
    return true;
  });
}

bool read_use(std::string_view key, JsonValue field, GpuQuota::Use& out) {
  if (key == "guaranteed") return json::read(field, out.guaranteed);
  if (key == "used") return json::read(field, out.used);
  if (key == "borrowed") return json::read(field, out.borrowed);
  if (key == "lent") return json::read(field, out.lent);
  if (key == "pending") return json::read(field, out.pending);
  return true;
}

bool read_line_statuses(JsonValue value, std::vector<GpuQuota::LineStatus>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    GpuQuota::LineStatus& line = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      return key == "gpuType" ? json::read(field, line.gpu_type) : read_use(key, field, line.use);
    });
  });
}

bool read(JsonValue value, Condition& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "type") return json::read(field, out.type);
    if (key == "status") return json::read(field, out.status);
    if (key == "observedGeneration") return json::read(field, out.observed_generation);
    if (key == "lastTransitionTime") return read_optional(field, out.last_transition_time);
    if (key == "reason") return json::read(field, out.reason);
    if (key == "message") return json::read(field, out.message);
    return true;
  });
}

bool read_conditions(JsonValue value, std::vector<Condition>& out) {
  out.clear();
  return value.items([&](JsonValue item) { return read(item, out.emplace_back()); });
}

bool read(JsonValue value, GpuQuota::Status& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "observedGeneration") return json::read(field, out.observed_generation);
    if (key == "quotas") return read_line_statuses(field, out.quotas);
    if (key == "conditions") return read_conditions(field, out.conditions);
    if (key != "total") return true;
    return field.fields(
        [&](std::string_view name, JsonValue amount) { return read_use(name, amount, out.total); });
  });
}

}  // namespace

bool read(JsonValue value, GpuQuota& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read(field, out.spec);
    // The status is written by a scheduler; any other content counts as no status.
    if (key == "status") {
      GpuQuota::Status status;
      out.status.reset();
      if (read(field, status)) out.status = std::move(status);
    }
    return true;
  });
}

}  // namespace k8s::json
