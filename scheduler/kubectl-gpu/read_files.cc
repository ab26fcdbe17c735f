#include "scheduler/kubectl-gpu/read_files.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/engine/backoffs/rejected_pod.h"
#include "scheduler/framework/pod_requests.h"

#include <simdjson.h>

#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sched::kubectl {
namespace {

using simdjson::dom::element;

std::string_view text_at(element object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

k8s::Result<void> in_place(const k8s::Result<void>& result, const std::string& place) {
  if (result) return {};
  return tl::unexpected(k8s::with_context(result.error(), place));
}

// A List's items may have no kind; then it follows from the list's kind: "PodList", as their
// version does.
k8s::Result<void> for_each_in(element document, const std::string& place, const EachObject& each) {
  const std::string_view kind = text_at(document, "kind");
  if (kind.empty()) return k8s::decode_error(place + ": want a Kubernetes object, with its kind");
  const std::string_view version = text_at(document, "apiVersion");
  simdjson::dom::array items;
  if (!kind.ends_with("List") || document["items"].get(items) != simdjson::SUCCESS) {
    return in_place(each({version, kind, simdjson::minify(document)}), place);
  }
  const std::string_view of_list = kind.substr(0, kind.size() - std::strlen("List"));
  std::size_t i = 0;
  for (const element item : items) {
    const std::string_view own = text_at(item, "kind");
    const std::string json = simdjson::minify(item);
    const auto read = each(own.empty() ? FoundObject{version, of_list, json}
                                       : FoundObject{text_at(item, "apiVersion"), own, json});
    if (!read) return in_place(read, place + ": items[" + std::to_string(i) + "]");
    ++i;
  }
  return {};
}

k8s::Result<void> for_each_in(const simdjson::padded_string& json, const std::string& place,
                              const EachObject& each) {
  simdjson::dom::parser parser;
  element document;
  if (const auto error = parser.parse(json).get(document)) {
    return k8s::decode_error(place + ": not JSON: " + simdjson::error_message(error));
  }
  return for_each_in(document, place, each);
}

// YAML may begin with a brace, too; then usually no quote follows.
bool is_json(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto brace = text.find_first_not_of(kBlanks);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto next = text.find_first_not_of(kBlanks, brace + 1);
  return next != std::string_view::npos && text[next] == '"';
}

template <typename Object>
k8s::Result<std::optional<Event>> read_object(std::string_view json) {
  static k8s::Decoder decoder;
  auto object = decoder.object<Object>(json);
  if (!object) return tl::unexpected(std::move(object.error()));
  if constexpr (std::is_same_v<Object, k8s::Pod>) {
    if (object->is_finished()) {
      auto rejection = rejection_of(*object);
      if (!rejection) return std::nullopt;
      return Event{*std::move(rejection)};
    }
  }
  return Event{event::Upserted<Object>{*std::move(object)}};
}

template <typename Object>
void complete_object(Object& object, const std::string& namespace_) {
  k8s::ObjectMeta& metadata = object.metadata;
  if (Object::kKind.namespaced && metadata.namespace_.empty()) metadata.namespace_ = namespace_;
  // The key of pods in the engine.
  if (metadata.uid.empty()) metadata.uid = metadata.namespace_ + "/" + metadata.name;
  if constexpr (std::is_same_v<Object, k8s::Pod>) {
    k8s::set_defaults(object, namespace_);
    set_pod_level_requests(object);
  }
  if constexpr (std::is_same_v<Object, k8s::PersistentVolumeClaim>) {
    if (object.phase.empty()) object.phase = "Pending";
  }
  // The volume controller does that, as soon as it sees a new volume.
  if constexpr (std::is_same_v<Object, k8s::PersistentVolume>) {
    if (object.phase.empty()) object.phase = "Available";
  }
  if constexpr (std::is_same_v<Object, k8s::StorageClass>) {
    if (!object.binding_mode) object.binding_mode = "Immediate";
  }
}

}  // namespace

k8s::Result<void> for_each_object(const std::string& file, const EachObject& each) {
  simdjson::padded_string text;
  if (const auto error = simdjson::padded_string::load(file).get(text)) {
    return k8s::config_error(file + ": cannot be read: " + simdjson::error_message(error));
  }
  const std::string_view whole(text.data(), text.size());
  if (whole.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return k8s::config_error(file + ": is empty");
  }
  if (is_json(whole)) return for_each_in(text, file, each);
  const auto documents = k8s::yaml::parse(whole, file);
  if (!documents) return tl::unexpected(documents.error());
  for (const k8s::yaml::Value& document : *documents) {
    const std::string place = file + ":" + std::to_string(document.line);
    const simdjson::padded_string json(k8s::yaml::to_json(document));
    if (auto read = for_each_in(json, place, each); !read) return read;
  }
  return {};
}

bool FoundObject::is(std::string_view kind_name, std::string_view group) const {
  return kind == kind_name && (api_version.empty() || k8s::api_group(api_version) == group);
}

k8s::Result<std::optional<Event>> event_of(const FoundObject& object) {
  k8s::Result<std::optional<Event>> event;
  for_each_watched_kind([&]<typename Object>(const Watched<Object>& /*kind*/) {
    // Budgets are not read from a cluster either (read_cluster.cc).
    if (std::is_same_v<Object, k8s::PodDisruptionBudget>) return;
    const k8s::ObjectKind& kind = Object::kKind;
    if (object.is(kind.name, k8s::api_group(kind.api_version)))
      event = read_object<Object>(object.json);
  });
  return event;
}

void complete(Event& event, const std::string& namespace_) {
  std::visit(
      [&](auto& one) {
        if constexpr (requires { one.object.metadata; }) complete_object(one.object, namespace_);
      },
      event);
}

k8s::Result<void> read_files(const std::vector<std::string>& files,
                             const std::function<void(Event)>& sink) {
  for (const std::string& file : files) {
    const auto read = for_each_object(file, [&](const FoundObject& object) -> k8s::Result<void> {
      auto event = event_of(object);
      if (!event) return tl::unexpected(std::move(event.error()));
      if (!*event) return {};
      complete(**event, "default");
      sink(**std::move(event));
      return {};
    });
    if (!read) return read;
  }
  return {};
}

}  // namespace sched::kubectl
