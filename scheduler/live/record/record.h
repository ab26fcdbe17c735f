// A recording: everything an engine was told, and what it answered, as JSON lines.
//
//   {"gpu-scheduler-record": 1, "config_file": "…", "config": "the configuration's text"}
//   {"at": 1767225600000000, "event": "PodUpserted", "object": {…}}
//   {"at": 1767225600000210, "step": {"bind": {…}}}        or  "step": null: nothing to decide
//
// Times are microseconds since 1970. Objects are Kubernetes' own JSON, with the fields in use. From
// the first line and the calls in order an engine gives the same decisions again; `bench
// replay --recording` does that.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sched::live {

struct RecordHeader {
  std::string config_file;  // for messages
  std::string config;       // the text; empty: the default configuration
  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};

// engine.apply(event, at)
struct AppliedCall {
  Event event;
  Time at{};
};

// engine.step(at), and what it returned.
struct StepCall {
  std::optional<Decision> decision;
  Time at{};
};

using EngineCall = std::variant<AppliedCall, StepCall>;

// What events about a kind of object begin with: "NodeUpserted", "NodeDeleted".
template <typename Object>
inline constexpr std::string_view kKindWord = "";
template <>
inline constexpr std::string_view kKindWord<k8s::Node> = "Node";
template <>
inline constexpr std::string_view kKindWord<k8s::Pod> = "Pod";
template <>
inline constexpr std::string_view kKindWord<k8s::Namespace> = "Namespace";
template <>
inline constexpr std::string_view kKindWord<k8s::PersistentVolumeClaim> = "Claim";
template <>
inline constexpr std::string_view kKindWord<k8s::PersistentVolume> = "Volume";
template <>
inline constexpr std::string_view kKindWord<k8s::StorageClass> = "StorageClass";
template <>
inline constexpr std::string_view kKindWord<k8s::CsiNode> = "CSINode";
template <>
inline constexpr std::string_view kKindWord<k8s::CsiDriver> = "CSIDriver";
template <>
inline constexpr std::string_view kKindWord<k8s::CsiStorageCapacity> = "CSIStorageCapacity";
template <>
inline constexpr std::string_view kKindWord<k8s::VolumeAttachment> = "VolumeAttachment";
template <>
inline constexpr std::string_view kKindWord<k8s::DeviceClass> = "DeviceClass";
template <>
inline constexpr std::string_view kKindWord<k8s::Service> = "Service";
template <>
inline constexpr std::string_view kKindWord<k8s::ReplicationController> = "ReplicationController";
template <>
inline constexpr std::string_view kKindWord<k8s::ReplicaSet> = "ReplicaSet";
template <>
inline constexpr std::string_view kKindWord<k8s::StatefulSet> = "StatefulSet";
template <>
inline constexpr std::string_view kKindWord<k8s::GpuQuota> = "Quota";

// One line each, without its newline.
[[nodiscard]] std::string encode(const RecordHeader& header);
[[nodiscard]] std::string encode(const EngineCall& call);
// A decision alone, as it stands in a step: what two runs are compared by.
[[nodiscard]] std::string encode(const std::optional<Decision>& decision);

[[nodiscard]] k8s::Result<RecordHeader> decode_header(std::string_view line);
[[nodiscard]] k8s::Result<EngineCall> decode_call(std::string_view line);

}  // namespace sched::live
