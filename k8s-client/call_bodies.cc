#include "k8s-client/call_bodies.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"
#include "k8s-client/api/protobuf/documents.h"
#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace k8s {
namespace {

// ---- protobuf

using protobuf::Writer;

// v1 ObjectReference.
struct Reference {
  std::string_view kind;
  std::string_view namespace_ = {};
  std::string_view name;
  std::string_view uid = {};
  std::string_view api_version;
};

void write_reference(Writer& out, std::uint32_t field, const Reference& reference) {
  out.message(field, [&] {
    out.text(1, reference.kind);
    out.text(2, reference.namespace_);
    out.text(3, reference.name);
    out.text(4, reference.uid);
    out.text(5, reference.api_version);
  });
}

// Field numbers of metav1.ObjectMeta.
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kNamespace = 3;
constexpr std::uint32_t kUid = 5;
constexpr std::uint32_t kAnnotations = 12;

// ---- JSON

using Json = nlohmann::json;

// metav1.Time is in whole seconds.
std::string seconds_text(Timestamp time) {
  return json::format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

// In a merge patch null removes a field.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// A volume that was written by hand may name its claim without the uid.
bool is_for(const PersistentVolume& volume, const ObjectMeta& claim) {
  const auto& ref = volume.claim_ref;
  return ref && ref->name == claim.name && ref->namespace_ == claim.namespace_ &&
         (ref->uid.empty() || ref->uid == claim.uid);
}

}  // namespace

std::string binding_body(const Binding& binding) {
  return protobuf::document("v1", "Binding", [&](Writer& out) {
    out.message(1, [&] {
      out.text(kName, binding.pod);
      out.text(kNamespace, binding.namespace_);
      out.text(kUid, binding.pod_uid);
      out.map(kAnnotations, binding.annotations);
    });
    write_reference(out, 2, {.kind = "Node", .name = binding.node, .api_version = "v1"});
  });
}

std::string event_body(const EventObject& event) {
  return protobuf::document("events.k8s.io/v1", "Event", [&](Writer& out) {
    out.message(1, [&] {
      out.text(kName, event.name);
      out.text(kNamespace, event.namespace_);
      out.map(kAnnotations, event.annotations);
    });
    out.micro_time(2, event.event_time);
    if (event.series_count > 0) {
      out.message(3, [&] {
        out.number(1, event.series_count);
        out.micro_time(2, event.series_last_observed);
      });
    }
    out.text(4, event.reporting_controller);
    out.text(5, event.reporting_instance);
    out.text(6, event.action);
    out.text(7, event.reason);
    write_reference(out, 8,
                    {.kind = event.regarding_kind,
                     .namespace_ = event.regarding_namespace,
                     .name = event.regarding_name,
                     .uid = event.regarding_uid,
                     .api_version = event.regarding_api_version});
    out.text(10, event.note);
    out.text(11, event.type);
  });
}

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
  Json status = {{"conditions", Json::array({std::move(entry)})}};
  if (condition.nominated_node) {
    status["nominatedNodeName"] = text_or_null(*condition.nominated_node);
  }
  return json_text(Json{{"metadata", std::move(metadata)}, {"status", std::move(status)}});
}

std::string nomination_patch(const ObjectMeta& pod, const std::string& node) {
  return json_text(Json{{"metadata", {{"uid", pod.uid}}},
                        {"status", {{"nominatedNodeName", text_or_null(node)}}}});
}

std::string disruption_target_patch(const ObjectMeta& pod, const std::string& message,
                                    Timestamp now) {
  Json entry = {{"type", "DisruptionTarget"},
                {"status", "True"},
                {"reason", "PreemptionByScheduler"},
                {"message", message},
                {"lastTransitionTime", seconds_text(now)}};
  return json_text(Json{{"metadata", {{"uid", pod.uid}}},
                        {"status", {{"conditions", Json::array({std::move(entry)})}}}});
}

std::string delete_options(const std::string& uid, bool dry_run) {
  Json options = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid}}}};
  // In the body: the server reads the query only where there is none.
  if (dry_run) options["dryRun"] = Json::array({"All"});
  return json_text(options);
}

std::string selected_node_patch(const ObjectMeta& claim, const std::string& node) {
  Json metadata = {{"resourceVersion", claim.resource_version}};
  metadata["annotations"]["volume.kubernetes.io/selected-node"] = node;
  return json_text(Json{{"metadata", std::move(metadata)}});
}

std::string volume_claim_patch(const PersistentVolume& volume, const ObjectMeta& claim) {
  Json metadata = {{"resourceVersion", volume.metadata.resource_version}};
  if (!is_for(volume, claim)) {
    metadata["annotations"]["pv.kubernetes.io/bound-by-controller"] = "yes";
  }
  Json patch = {{"metadata", std::move(metadata)}};
  Json& ref = patch["spec"]["claimRef"];
  ref = json::to_json(ClaimReference{claim.namespace_, claim.name, claim.uid});
  ref["resourceVersion"] = claim.resource_version;
  return json_text(patch);
}

std::string gpu_quota_status_patch(const ObjectMeta& quota, const GpuQuota::Status& status) {
  Json patch = {{"metadata", {{"uid", quota.uid}, {"resourceVersion", quota.resource_version}}}};
  patch["status"] = json::to_json(status);
  return json_text(patch);
}

std::string event_series_patch(const EventObject& event) {
  return json_text(
      Json{{"series",
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
