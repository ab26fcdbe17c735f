#include "k8s-client/api/protobuf/documents.h"

#include "k8s-client/api/decode/read_object.h"
#include "k8s-client/api/protobuf/objects.h"

#include <optional>
#include <string>
#include <utility>

namespace k8s::protobuf {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "k8s\0"sv;

tl::unexpected<Error> failed(std::string what, const Failure& failure) {
  if (!failure.path.empty()) what += ": protobuf field " + failure.path;
  return decode_error(what + ": " + failure.text);
}

// runtime.Unknown.
struct Envelope {
  std::string_view kind;
  std::string_view object;
};

Result<Envelope> open(std::string_view document) {
  if (!is_document(document))
    return decode_error("not protobuf: the four bytes \"k8s\\0\" are missing");
  document.remove_prefix(kMagic.size());
  Envelope envelope;
  Failure failure;
  const bool ok = Value(document, failure).fields([&](std::uint32_t number, const Value& field) {
    if (number == 2) envelope.object = field.bytes();
    if (number != 1) return true;
    return field.fields([&](std::uint32_t inner_number, const Value& inner) {
      if (inner_number == 2) envelope.kind = inner.bytes();
      return true;
    });
  });
  if (!ok) return failed("envelope", failure);
  return envelope;
}

Result<std::string_view> open(std::string_view document, std::string_view kind) {
  const auto envelope = open(document);
  if (!envelope) return tl::unexpected(envelope.error());
  if (envelope->kind == kind) return envelope->object;
  return decode_error("expected a " + std::string(kind) + ", found a " +
                      std::string(envelope->kind));
}

// `Pod "ml/train-0"`, or the parts of it that the object has.
template <typename T>
std::string identity(const ObjectMeta& metadata) {
  const std::string kind(T::kKind.name);
  if (metadata.name.empty()) return kind;
  const std::string in = metadata.namespace_.empty() ? "" : metadata.namespace_ + "/";
  return kind + " \"" + in + metadata.name + "\"";
}

template <typename T>
ReadObject<T> read_object(std::string_view bytes) {
  Failure failure;
  ReadObject<T> item;
  if (!read(Value(bytes, failure), item.object)) {
    item.error = failed(identity<T>(item.object.metadata), failure).value();
  } else if (item.object.metadata.name.empty()) {
    item.error =
        make_error(ErrorKind::kDecode, std::string(T::kKind.name) + ": metadata.name: is missing");
  }
  return item;
}

// metav1.WatchEvent; its object is a runtime.RawExtension.
struct RawEvent {
  std::string_view type;
  std::string_view document;
};

Result<RawEvent> read_event(std::string_view frame) {
  RawEvent event;
  Failure failure;
  const bool ok = Value(frame, failure).fields([&](std::uint32_t number, const Value& field) {
    if (number == 1) event.type = field.bytes();
    if (number != 2) return true;
    return field.fields([&](std::uint32_t inner_number, const Value& inner) {
      if (inner_number == 1) event.document = inner.bytes();
      return true;
    });
  });
  if (!ok) return failed("watch event", failure);
  return event;
}

// A bookmark's object has only metadata, and no name.
template <typename T>
Result<WatchEvent<T>> read_bookmark(std::string_view document) {
  WatchEvent<T> event;
  const auto object = open(document, T::kKind.name);
  if (!object) return tl::unexpected(object.error());
  Failure failure;
  if (!read(Value(*object, failure), event.object)) return failed("watch event", failure);
  event.initial_events_end = ends_initial_events(event.object.metadata);
  return event;
}

}  // namespace

bool is_document(std::string_view bytes) { return bytes.starts_with(kMagic); }

template <typename T>
Result<T> object(std::string_view document) {
  const auto object = open(document, T::kKind.name);
  if (!object) return tl::unexpected(object.error());
  auto item = read_object<T>(*object);
  if (item.error) return tl::unexpected(*std::move(item.error));
  return std::move(item.object);
}

template <typename T>
Result<ListMeta> list(std::string_view document, const std::function<void(T)>& each,
                      const std::function<void(T, Error)>& unreadable) {
  const std::string kind = std::string(T::kKind.name) + "List";
  const auto object = open(document, kind);
  if (!object) return tl::unexpected(object.error());
  ListMeta meta;
  Failure failure;
  std::optional<Error> error;
  const bool ok = Value(*object, failure).fields([&](std::uint32_t number, const Value& field) {
    if (number == 1) return read(field, meta);
    if (number != 2) return true;
    return deliver(read_object<T>(field.bytes()), each, unreadable, error);
  });
  if (error) return tl::unexpected(with_context(std::move(*error), kind));
  if (!ok) return failed(kind, failure);
  return meta;
}

Result<Status> status(std::string_view document) {
  const auto object = open(document, "Status");
  if (!object) return tl::unexpected(object.error());
  Status status;
  Failure failure;
  if (!read(Value(*object, failure), status)) return failed("Status", failure);
  return status;
}

template <typename T>
Result<WatchEvent<T>> event(std::string_view frame) {
  const auto raw = read_event(frame);
  if (!raw) return tl::unexpected(raw.error());
  const auto type = watch_event_type(raw->type);
  if (!type) return tl::unexpected(type.error());
  Result<WatchEvent<T>> event;
  if (*type == WatchEventType::kBookmark) {
    event = read_bookmark<T>(raw->document);
  } else if (*type == WatchEventType::kError) {
    auto what = status(raw->document);
    if (!what) return tl::unexpected(std::move(what.error()));
    event->status = std::move(*what);
  } else {
    const auto bytes = open(raw->document, T::kKind.name);
    if (!bytes) return tl::unexpected(bytes.error());
    auto changed = read_object<T>(*bytes);
    if (changed.error && !is_identified(changed.object.metadata)) {
      return tl::unexpected(*std::move(changed.error));
    }
    event->object = std::move(changed.object);
    event->unreadable = std::move(changed.error);
  }
  if (event) event->type = *type;
  return event;
}

#define K8S_READ_IN_PROTOBUF(T)                                                   \
  template Result<T> object(std::string_view);                                    \
  template Result<ListMeta> list(std::string_view, const std::function<void(T)>&, \
                                 const std::function<void(T, Error)>&);           \
  template Result<WatchEvent<T>> event(std::string_view)
K8S_READ_IN_PROTOBUF(Pod);
K8S_READ_IN_PROTOBUF(DeviceClass);
K8S_READ_IN_PROTOBUF(ReplicationController);
K8S_READ_IN_PROTOBUF(ReplicaSet);
K8S_READ_IN_PROTOBUF(StatefulSet);
#undef K8S_READ_IN_PROTOBUF

std::string document(std::string_view api_version, std::string_view kind,
                     const std::function<void(Writer&)>& fill) {
  std::string bytes(kMagic);
  Writer envelope(bytes);
  envelope.message(1, [&] {
    envelope.text(1, api_version);
    envelope.text(2, kind);
  });
  envelope.message(2, [&] { fill(envelope); });
  return bytes;
}

}  // namespace k8s::protobuf
