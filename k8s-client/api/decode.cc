#include "k8s-client/api/decode.h"

#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/decode/read_object.h"
#include "k8s-client/api/protobuf/documents.h"
#include "k8s-client/api/utf8.h"

#include <utility>

namespace k8s {
namespace {

using json::Failure;
using json::JsonValue;

std::string_view string_at(JsonValue value, std::string_view key) {
  const auto found = value.find(key);
  return found ? found->string_or_empty() : std::string_view();
}

// `Pod "ml/train-0"`, or the parts of it that the object has.
std::string identity(std::string_view kind, JsonValue object) {
  std::string text(kind);
  const auto metadata = object.find("metadata");
  if (!metadata) return text;
  const std::string_view ns = string_at(*metadata, "namespace");
  const std::string_view name = string_at(*metadata, "name");
  if (ns.empty() && name.empty()) return text;
  return text.append(" \"").append(ns).append(ns.empty() ? "" : "/").append(name).append("\"");
}

tl::unexpected<Error> failed(std::string what, const Failure& failure) {
  if (!failure.path.empty()) what += ": " + failure.path;
  return decode_error(what + ": " + failure.text);
}

// One object, with its name in any error. Items of lists have no `kind`. Whole documents have one,
// and another kind, such as a Status, is an error.
template <typename T>
ReadObject<T> read_object(JsonValue value) {
  Failure failure;
  const JsonValue at(value.element(), failure);
  const std::string_view kind = string_at(at, "kind");
  ReadObject<T> read;
  if (!kind.empty() && kind != T::kKind.name) {
    read.error = make_error(ErrorKind::kDecode, "expected a " + std::string(T::kKind.name) +
                                                    ", found a " + std::string(kind));
    return read;
  }
  bool ok = json::read(at, read.object);
  if (ok && read.object.metadata.name.empty()) {
    failure = {"metadata.name", "is missing"};
    ok = false;
  }
  if (!ok) read.error = failed(identity(T::kKind.name, at), failure).value();
  return read;
}

template <typename T>
bool read_bookmark(JsonValue value, WatchEvent<T>& out) {
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    return key != "metadata" || json::read(field, out.object.metadata);
  });
  out.initial_events_end = ends_initial_events(out.object.metadata);
  return ok;
}

// The rest of a watch event after its type is known.
template <typename T>
Result<WatchEvent<T>> read_event(WatchEventType type, JsonValue object) {
  WatchEvent<T> event;
  event.type = type;
  Failure failure;
  const JsonValue at(object.element(), failure);
  bool ok = true;
  if (type == WatchEventType::kError) {
    ok = json::read(at, event.status);
  } else if (type == WatchEventType::kBookmark) {
    ok = read_bookmark(at, event);
  } else {
    auto read = read_object<T>(at);
    if (read.error && !is_identified(read.object.metadata)) {
      return tl::unexpected(*std::move(read.error));
    }
    event.object = std::move(read.object);
    event.unreadable = std::move(read.error);
  }
  if (!ok) return failed("watch event", failure);
  return event;
}

}  // namespace

Result<WatchEventType> watch_event_type(std::string_view word) {
  if (word == "ADDED") return WatchEventType::kAdded;
  if (word == "MODIFIED") return WatchEventType::kModified;
  if (word == "DELETED") return WatchEventType::kDeleted;
  if (word == "BOOKMARK") return WatchEventType::kBookmark;
  if (word == "ERROR") return WatchEventType::kError;
  return decode_error("watch event: type: '" + std::string(word) +
                      "' is not one of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR");
}

bool is_identified(const ObjectMeta& metadata) {
  return !metadata.name.empty() && !metadata.uid.empty() && !metadata.resource_version.empty();
}

bool ends_initial_events(const ObjectMeta& metadata) {
  const auto* end = metadata.annotations.find("k8s.io/initial-events-end");
  return end != nullptr && *end == "true";
}

template <typename T>
std::string_view accepted_types() {
  return protobuf::kReads<T> ? protobuf::kAccept : "application/json";
}

struct Decoder::Buffers {
  // Memory of documents larger than this is freed; of smaller ones it is kept for the next.
  static constexpr std::size_t kKept = std::size_t{1} << 20;
  // The API server takes documents of 10,000 levels, and a tenant can write as many into
  // metadata.managedFields. A watch event and a list are some levels more.
  static constexpr std::size_t kDeepest = 10'100;

  simdjson::dom::parser parser = new_parser();
  Failure failure;

  // The whole document, parsed and valid. simdjson reads beyond the end, so it gets a copy in a
  // padded buffer that is reused; the copy is a small part of the cost of parsing.
  Result<JsonValue> parse(std::string_view text) {
    if (text.empty()) return decode_error("not JSON: the document is empty");
    failure = {};
    simdjson::dom::element root;
    auto code = parser.parse(text.data(), text.size()).get(root);
    if (code == simdjson::UTF8_ERROR) {
      const std::string sound = repaired(text);
      code = parser.parse(sound.data(), sound.size()).get(root);
    }
    if (code != simdjson::SUCCESS) {
      return decode_error(std::string("not JSON: ") + simdjson::error_message(code));
    }
    return JsonValue(root, failure);
  }

  // Does so at the end of a call, whatever its result is.
  struct Shrink {
    ~Shrink() {
      if (buffers.parser.capacity() > kKept) buffers.parser = new_parser();
    }
    Buffers& buffers;
  };

  // It keeps the depth when it grows. If there is no memory, parse() fails.
  static simdjson::dom::parser new_parser() {
    simdjson::dom::parser made;
    [[maybe_unused]] const auto code = made.allocate(0, kDeepest);
    return made;
  }
};

Decoder::Decoder() : buffers_(std::make_unique<Buffers>()) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

template <typename T>
Result<T> Decoder::object(std::string_view json) {
  const Buffers::Shrink at_the_end{*buffers_};
  const auto root = buffers_->parse(json);
  if (!root) return tl::unexpected(root.error());
  auto read = read_object<T>(*root);
  if (read.error) return tl::unexpected(*std::move(read.error));
  return std::move(read.object);
}

template <typename T>
Result<ListMeta> Decoder::list(std::string_view json, const std::function<void(T)>& each,
                               const std::function<void(T, Error)>& unreadable) {
  if constexpr (protobuf::kReads<T>) {
    if (protobuf::is_document(json)) return protobuf::list<T>(json, each, unreadable);
  }
  const Buffers::Shrink at_the_end{*buffers_};
  const auto root = buffers_->parse(json);
  if (!root) return tl::unexpected(root.error());
  const std::string kind = std::string(T::kKind.name) + "List";
  const std::string_view found = string_at(*root, "kind");
  if (!found.empty() && found != kind && found != "List") {
    return decode_error("expected a " + kind + ", found a " + std::string(found));
  }
  // Without the field this is not a list, and must not count as an empty one: all objects would
  // seem deleted.
  if (!root->find("items")) return decode_error(kind + ": items: is missing");

  ListMeta meta;
  std::optional<Error> error;
  const bool ok = root->fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return json::read(field, meta);
    if (key != "items") return true;
    return field.items(
        [&](JsonValue item) { return deliver(read_object<T>(item), each, unreadable, error); });
  });
  if (error) return tl::unexpected(with_context(*error, kind + ": " + buffers_->failure.path));
  if (!ok) return failed(kind, buffers_->failure);
  return meta;
}

template <typename T>
Result<WatchEvent<T>> Decoder::watch_event(std::string_view json) {
  const Buffers::Shrink at_the_end{*buffers_};
  const auto root = buffers_->parse(json);
  if (!root) return tl::unexpected(root.error());
  const auto type = watch_event_type(string_at(*root, "type"));
  if (!type) return tl::unexpected(type.error());
  const auto object = root->find("object");
  if (!object) return decode_error("watch event: object: is missing");
  return read_event<T>(*type, *object);
}

template <typename T>
Result<WatchEvent<T>> Decoder::watch_message(std::string_view message) {
  if constexpr (protobuf::kReads<T>) return protobuf::event<T>(message);
  return decode_error("protobuf is not understood of a " + std::string(T::kKind.name));
}

Result<Status> Decoder::status(std::string_view json) {
  if (protobuf::is_document(json)) return protobuf::status(json);
  const Buffers::Shrink at_the_end{*buffers_};
  const auto root = buffers_->parse(json);
  if (!root) return tl::unexpected(root.error());
  const std::string_view kind = string_at(*root, "kind");
  if (kind != "Status") return decode_error("expected a Status, found '" + std::string(kind) + "'");
  Status status;
  if (!json::read(*root, status)) return failed("Status", buffers_->failure);
  return status;
}

#define K8S_DECODABLE(T)                                                                      \
  template Result<T> Decoder::object<T>(std::string_view);                                    \
  template Result<ListMeta> Decoder::list<T>(std::string_view, const std::function<void(T)>&, \
                                             const std::function<void(T, Error)>&);           \
  template Result<WatchEvent<T>> Decoder::watch_event<T>(std::string_view);                   \
  template Result<WatchEvent<T>> Decoder::watch_message<T>(std::string_view);                 \
  template std::string_view accepted_types<T>()
K8S_EACH_KIND(K8S_DECODABLE);
#undef K8S_DECODABLE

}  // namespace k8s
