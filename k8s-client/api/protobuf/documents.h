// Whole documents in protobuf: from the API server an object, a page of a list, an event of a
// watch, a Status; and the envelope of objects that are sent to it.
//
// An object is in an envelope: four bytes that no JSON begins with, and a runtime.Unknown that
// names its kind. An event of a watch is a metav1.WatchEvent with such an object in it, and has its
// length in front (frame_splitter.h). Source: k8s.io/apimachinery pkg/runtime/serializer/protobuf.
//
// Pods are read in protobuf, because they are nearly everything that a scheduler reads, and their
// JSON would be the largest part of its cost for the API server. So are kinds that carry what the
// API server passes on as their author wrote it: device classes, with their drivers' parameters,
// and controllers, with the managedFields of their pod templates. (Those of an object itself it
// writes anew.) In JSON, a number beyond 64 bits there, or half of a surrogate pair, would stop
// simdjson from reading the whole page; here these are bytes that are skipped. Binds and events are
// written in protobuf, because they are nearly everything that it writes (../../call_bodies.h).
// Everything else stays JSON, which people can read.
#pragma once

#include "k8s-client/api/decode.h"
#include "k8s-client/api/protobuf/writer.h"

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace k8s::protobuf {

inline constexpr std::string_view kContentType = "application/vnd.kubernetes.protobuf";
// The media types to ask for if this is supported. JSON is for servers without it.
inline constexpr std::string_view kAccept = "application/vnd.kubernetes.protobuf, application/json";

// Whether a document is one of these rather than JSON.
[[nodiscard]] bool is_document(std::string_view bytes);

// Whether T is read in protobuf.
template <typename T>
inline constexpr bool kReads = std::is_same_v<T, Pod> || std::is_same_v<T, DeviceClass> ||
                               std::is_same_v<T, ReplicationController> ||
                               std::is_same_v<T, ReplicaSet> || std::is_same_v<T, StatefulSet>;

template <typename T>
[[nodiscard]] Result<T> object(std::string_view document);
// As Decoder::list.
template <typename T>
[[nodiscard]] Result<ListMeta> list(std::string_view document, const std::function<void(T)>& each,
                                    const std::function<void(T, Error)>& unreadable = {});
// For one frame of a watch, without its length.
template <typename T>
[[nodiscard]] Result<WatchEvent<T>> event(std::string_view frame);
[[nodiscard]] Result<Status> status(std::string_view document);

// An object in its envelope; `fill` writes its fields.
[[nodiscard]] std::string document(std::string_view api_version, std::string_view kind,
                                   const std::function<void(Writer&)>& fill);

}  // namespace k8s::protobuf
