// From the API server's bytes to plain structs: JSON, by simdjson, and for some kinds also protobuf
// (protobuf/documents.h), which is recognised by its first bytes.
//
// Unknown fields are ignored, null counts as absent, wrong types are an error that names the field.
// The document is validated as a whole: a truncated or damaged one is an error, never a half-filled
// struct. Text that is not UTF-8 is repaired (utf8.h). In lists and watches, which never end, one
// object that cannot be read is separated from the others: the reader may put it aside, with the
// parts that could be read.
#pragma once

#include "k8s-client/api/kinds.h"
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

// The contents of a list page besides its items.
struct ListMeta {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

template <typename T>
struct WatchEvent {
  WatchEventType type = WatchEventType::kBookmark;
  T object;  // kAdded, kModified, kDeleted: the object; kBookmark: only metadata is filled
  // Why the object could not be read. `object` then has the parts that could be read: at least its
  // name, uid and resource version.
  std::optional<Error> unreadable = {};
  Status status;  // kError
  // kBookmark: it carries the annotation k8s.io/initial-events-end=true.
  bool initial_events_end = false;
};

// The type of a watch event from its name.
[[nodiscard]] Result<WatchEventType> watch_event_type(std::string_view word);
// Whether these are the metadata of the bookmark after all existing objects.
[[nodiscard]] bool ends_initial_events(const ObjectMeta& metadata);

// Whether an object with these metadata can be identified and followed.
[[nodiscard]] bool is_identified(const ObjectMeta& metadata);

// The value of the header Accept with which T is cheapest for both sides.
template <typename T>
[[nodiscard]] std::string_view accepted_types();

// A reusable decoder; keeps its parser's buffers between calls. Not thread-safe.
class Decoder {
 public:
  Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // T: any kind of kinds.h.
  template <typename T>
  [[nodiscard]] Result<T> object(std::string_view json);

  // Calls `each` for every item of a List, in order, and `unreadable` for items that cannot be read
  // completely but have at least name, uid and resource version. Without `unreadable`, one such
  // item makes the list an error, as does an item without these. If the result is an error, some
  // items may have been delivered already: the caller decides how to treat an unfinished page.
  template <typename T>
  [[nodiscard]] Result<ListMeta> list(std::string_view json, const std::function<void(T)>& each,
                                      const std::function<void(T, Error)>& unreadable = {});

  template <typename T>
  [[nodiscard]] Result<WatchEvent<T>> watch_event(std::string_view json);
  // The same for a watch in protobuf: one message without its length. For the kinds in
  // protobuf.
  template <typename T>
  [[nodiscard]] Result<WatchEvent<T>> watch_message(std::string_view message);

  [[nodiscard]] Result<Status> status(std::string_view json);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace k8s
