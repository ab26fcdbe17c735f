#include "bench/replay/trace/dump_objects.h"

#include "bench/replay/trace/json_pieces.h"
#include "k8s-client/api/decode.h"
#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/yaml/value.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench::replay {
namespace {

using simdjson::dom::element;

// The text under `key`, or none.
std::string_view text_at(element object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// The latest of the times that `time_of` finds in the elements of a list.
template <typename TimeOf>
void raise_to_latest(std::optional<k8s::Timestamp>& latest, element pod, std::string_view list,
                     TimeOf time_of) {
  simdjson::dom::array items;
  if (pod.at_pointer(list).get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    const auto time = k8s::json::parse_rfc3339(time_of(item));
    if (time && (!latest || *latest < *time)) latest = time;
  }
}

// When a finished pod ended: from its containers, or else from its conditions.
std::optional<k8s::Timestamp> end_of(element pod) {
  std::optional<k8s::Timestamp> end;
  const auto finished_at = [](element container) {
    element terminated;
    if (container.at_pointer("/state/terminated").get(terminated) != simdjson::SUCCESS)
      return std::string_view();
    return text_at(terminated, "finishedAt");
  };
  raise_to_latest(end, pod, "/status/initContainerStatuses", finished_at);
  raise_to_latest(end, pod, "/status/containerStatuses", finished_at);
  if (end) return end;
  raise_to_latest(end, pod, "/status/conditions",
                  [](element condition) { return text_at(condition, "lastTransitionTime"); });
  return end;
}

// Reads objects as JSON, one after the other.
class ObjectTaker {
 public:
  explicit ObjectTaker(const std::string& file) : file_(file) {}

  // `kind` is used for an object that does not name its own.
  k8s::Result<void> take(std::string_view json, std::string_view kind, std::size_t line) {
    element object;
    if (const auto code = parser_.parse(json.data(), json.size(), true).get(object)) {
      return error(line, std::string("not JSON: ") + simdjson::error_message(code));
    }
    if (const auto own = text_at(object, "kind"); !own.empty()) kind = own;
    if (kind == "Node") return take_node(json, line);
    if (kind == "Pod") return take_pod(json, object, line);
    if (kind.empty()) return error(line, "want an object with its kind, such as Node or Pod");
    ++objects_.others[std::string(kind)];
    return {};
  }

  DumpObjects finish() { return std::move(objects_); }

 private:
  [[nodiscard]] tl::unexpected<k8s::Error> error(std::size_t line, const std::string& what) const {
    return k8s::decode_error(fmt::format("{}:{}: {}", file_, line, what));
  }

  k8s::Result<void> require_new(const std::string& what, std::size_t line) {
    const auto [first, is_new] = first_lines_.emplace(what, line);
    if (is_new) return {};
    return error(line, fmt::format("{} is there twice, first in line {}", what, first->second));
  }

  k8s::Result<void> take_node(std::string_view json, std::size_t line) {
    auto node = decoder_.object<k8s::Node>(json);
    if (!node) return error(line, node.error().message);
    const std::string& name = node->metadata.name;
    if (node->status.allocatable.empty()) {
      return error(
          line, fmt::format("Node \"{}\": status.allocatable is missing: what can it run?", name));
    }
    if (node->metadata.uid.empty()) node->metadata.uid = name;
    if (auto fresh = require_new("Node \"" + name + "\"", line); !fresh) return fresh;
    objects_.nodes.push_back(std::move(*node));
    return {};
  }

  k8s::Result<void> take_pod(std::string_view json, element object, std::size_t line) {
    auto pod = decoder_.object<k8s::Pod>(json);
    if (!pod) return error(line, pod.error().message);
    k8s::set_defaults(*pod, "default");
    const std::string name = pod->metadata.namespace_ + "/" + pod->metadata.name;
    if (pod->metadata.uid.empty()) pod->metadata.uid = name;
    if (auto fresh = require_new("Pod \"" + name + "\"", line); !fresh) return fresh;
    const auto ended = pod->is_finished() ? end_of(object) : std::nullopt;
    objects_.pods.push_back({.pod = std::move(*pod), .ended = ended});
    return {};
  }

  const std::string& file_;
  simdjson::dom::parser parser_;
  k8s::Decoder decoder_;
  DumpObjects objects_;
  std::unordered_map<std::string, std::size_t> first_lines_;
};

k8s::Result<void> take_json(const TextFile& file, ObjectTaker& taker) {
  const auto pieces = json_pieces(file.text, file.path);
  if (!pieces) return tl::unexpected(pieces.error());
  for (const JsonPiece& piece : *pieces) {
    if (auto taken = taker.take(piece.text, piece.kind, piece.line); !taken) return taken;
  }
  return {};
}

k8s::Result<void> take_value(const k8s::yaml::Value& value, ObjectTaker& taker) {
  const k8s::yaml::Value* items = value.find("items");
  if (items == nullptr || items->list() == nullptr) {
    return taker.take(k8s::yaml::to_json(value), {}, static_cast<std::size_t>(value.line));
  }
  for (const k8s::yaml::Value& item : *items->list()) {
    auto taken = taker.take(k8s::yaml::to_json(item), {}, static_cast<std::size_t>(item.line));
    if (!taken) return taken;
  }
  return {};
}

k8s::Result<void> take_yaml(const TextFile& file, ObjectTaker& taker) {
  const auto documents = k8s::yaml::parse(file.text, file.path);
  if (!documents) {
    return tl::unexpected(
        k8s::with_context(documents.error(), "read as YAML (neither CSV nor JSON)"));
  }
  for (const k8s::yaml::Value& document : *documents) {
    if (auto taken = take_value(document, taker); !taken) return taken;
  }
  return {};
}

}  // namespace

k8s::Result<DumpObjects> read_dump_objects(const TextFile& file) {
  ObjectTaker taker(file.path);
  const auto first = file.text.find_first_not_of(" \t\r\n");
  const bool is_json =
      first != file.text.npos && (file.text[first] == '{' || file.text[first] == '[');
  auto taken = is_json ? take_json(file, taker) : take_yaml(file, taker);
  if (!taken) return tl::unexpected(taken.error());
  return taker.finish();
}

void count_others(const DumpObjects& objects, std::map<std::string, std::size_t>& counts) {
  for (const auto& [kind, number] : objects.others) {
    counts["objects of kind " + kind + ", not used"] += number;
  }
}

}  // namespace bench::replay
