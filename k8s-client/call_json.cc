#include "k8s-client/call_json.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/gpu_quota_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace k8s {
namespace {

using Json = nlohmann::json;

// Messages may quote what users wrote; invalid UTF-8 is replaced rather than refused.
std::string dump(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// metav1.Time is in whole seconds.
std::string seconds_text(Timestamp time) {
  return json::format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace

std::string pod_scheduled_patch(const Pod& pod, const PodScheduledCondition& condition,
                                Timestamp now) {
  Json entry = {{"type", "PodScheduled"},
                {"status", condition.status},
                {"reason", condition.reason},
                {"message", condition.message},
                {"lastProbeTime", nullptr}};
  if (condition.observed_generation != 0) {
    entry["observedGeneration"] = condition.observed_generation;
  }
  const PodCondition* present = pod.condition("PodScheduled");
  if (present == nullptr || present->status != condition.status) {
    entry["lastTransitionTime"] = seconds_text(now);
  }
  Json metadata = {{"uid", pod.metadata.uid}};
  if (!pod.metadata.resource_version.empty()) {
    metadata["resourceVersion"] = pod.metadata.resource_version;
  }
  return dump({{"metadata", std::move(metadata)},
               {"status", {{"conditions", Json::array({std::move(entry)})}}}});
}

std::string gpu_quota_status_patch(const ObjectMeta& quota, const GpuQuota::Status& status) {
  Json patch = {{"metadata", {{"uid", quota.uid}, {"resourceVersion", quota.resource_version}}}};
  patch["status"] = json::to_json(status);
  return dump(patch);
}

std::string event_series_patch(const EventObject& event) {
  return dump({{"series",
                {{"count", event.series_count},
                 {"lastObservedTime", json::format_micro_time(event.series_last_observed)}}}});
}

Result<std::string> git_version_of(const std::string& body) {
  const Json document = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (document.is_object()) {
    const auto version = document.find("gitVersion");
    if (version != document.end() && version->is_string()) return version->get<std::string>();
  }
  return decode_error("the answer has no gitVersion");
}

}  // namespace k8s
