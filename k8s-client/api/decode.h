// What the API server sends into plain structs: JSON, by simdjson, and of two kinds also protobuf
// (protobuf/documents.h), which is told from JSON by its first bytes.
//
// Unknown fields are ignored, null counts as absent, wrong types are an error that names the field.
// The document is validated as a whole: a truncated or damaged one is an error, never a half-filled
// struct. Of lists and watches, which go on for ever, one object that cannot be read is told apart
// from the others: its reader may put it aside, with as much of it as could be read.
#pragma once

#include "k8s-client/api/config_map.h"
#include "k8s-client/api/controllers.h"
#include "k8s-client/api/device_class.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/lease.h"
#include "k8s-client/api/namespace.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "k8s-client/error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s {

// metav1.Status, the body of an error answer and of a watch's ERROR event.
struct Status {
  int code = 0;
  std::string reason;
  std::string message;
  int retry_after_seconds = 0;  // details.retryAfterSeconds
};

// What a list page says besides its items.
struct ListMeta {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

template <typename T>
struct WatchEvent {
  WatchEventType type = WatchEventType::kBookmark;
  T object;  // kAdded, kModified, kDeleted: the object; kBookmark: only metadata is filled
  // Why the object could not be read. `object` is as much of it as could be: at least its name, uid
  // and resource version.
  std::optional<Error> unreadable = {};
  Status status;  // kError
  // kBookmark: it carries the annotation k8s.io/initial-events-end=true.
  bool initial_events_end = false;
};

// The type of a watch event by its word.
[[nodiscard]] Result<WatchEventType> watch_event_type(std::string_view word);
// Whether these are the metadata of the bookmark behind all that existed.
[[nodiscard]] bool ends_initial_events(const ObjectMeta& metadata);

// Whether an object with these metadata can be told from others, and followed.
[[nodiscard]] bool is_identified(const ObjectMeta& metadata);

// What to ask the server for (the header Accept) to get T as is cheapest for both.
template <typename T>
[[nodiscard]] std::string_view accepted_types();

// A reusable decoder; keeps its parser's buffers between calls. Not thread-safe.
class Decoder {
 public:
  Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // T: Pod, Node, Namespace, PersistentVolumeClaim, PersistentVolume, StorageClass, CsiNode,
  // CsiDriver, CsiStorageCapacity, VolumeAttachment, DeviceClass, Service, ReplicationController,
  // ReplicaSet, StatefulSet, Lease, GpuQuota, ConfigMap.
  template <typename T>
  [[nodiscard]] Result<T> object(std::string_view json);

  // Calls `each` for every item of a List, in order, and `unreadable` for those that cannot be read
  // but for their name, uid and resource version at least. Without it, one such item makes the list
  // an error, as does one without these. When the result is an error, some items may have been
  // delivered already: the caller decides what an unfinished page is worth.
  template <typename T>
  [[nodiscard]] Result<ListMeta> list(std::string_view json, const std::function<void(T)>& each,
                                      const std::function<void(T, Error)>& unreadable = {});

  template <typename T>
  [[nodiscard]] Result<WatchEvent<T>> watch_event(std::string_view json);
  // The same of a watch in protobuf: one message without its length. Of these two kinds.
  template <typename T>
  [[nodiscard]] Result<WatchEvent<T>> watch_message(std::string_view message);

  [[nodiscard]] Result<Status> status(std::string_view json);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace k8s
