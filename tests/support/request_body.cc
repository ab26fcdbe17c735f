#include "tests/support/request_body.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/protobuf/documents.h"
#include "k8s-client/api/protobuf/message.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tests {
namespace {

using Json = nlohmann::json;
using k8s::protobuf::Value;

// What messages are made of, by Kubernetes' generated.proto files.
struct Message;
struct Field {
  enum class Kind { kText, kNumber, kMicroTime, kMap, kMessage, kEmpty };
  std::uint32_t number;
  const char* name;
  Kind kind = Kind::kText;
  const Message* type = nullptr;
};
struct Message {
  std::vector<Field> fields;
};
using Kind = Field::Kind;

const Message kObjectMeta{{{1, "name"},
                           {2, "generateName", Kind::kEmpty},
                           {3, "namespace"},
                           {4, "selfLink", Kind::kEmpty},
                           {5, "uid"},
                           {6, "resourceVersion", Kind::kEmpty},
                           {7, "generation", Kind::kEmpty},
                           {8, "creationTimestamp", Kind::kEmpty},
                           {12, "annotations", Kind::kMap}}};
const Message kReference{{{1, "kind"},
                          {2, "namespace"},
                          {3, "name"},
                          {4, "uid"},
                          {5, "apiVersion"},
                          {6, "resourceVersion", Kind::kEmpty},
                          {7, "fieldPath", Kind::kEmpty}}};
const Message kSeries{{{1, "count", Kind::kNumber}, {2, "lastObservedTime", Kind::kMicroTime}}};
const Message kNothing{{{1, "", Kind::kEmpty}, {2, "", Kind::kEmpty}}};
const Message kBinding{
    {{1, "metadata", Kind::kMessage, &kObjectMeta}, {2, "target", Kind::kMessage, &kReference}}};
const Message kEvent{{{1, "metadata", Kind::kMessage, &kObjectMeta},
                      {2, "eventTime", Kind::kMicroTime},
                      {3, "series", Kind::kMessage, &kSeries},
                      {4, "reportingController"},
                      {5, "reportingInstance"},
                      {6, "action"},
                      {7, "reason"},
                      {8, "regarding", Kind::kMessage, &kReference},
                      {10, "note"},
                      {11, "type"},
                      {12, "deprecatedSource", Kind::kMessage, &kNothing},
                      {13, "deprecatedFirstTimestamp", Kind::kEmpty},
                      {14, "deprecatedLastTimestamp", Kind::kEmpty},
                      {15, "deprecatedCount", Kind::kEmpty}}};
const Message kTypeMeta{{{1, "apiVersion"}, {2, "kind"}}};

Json json_of(Value value, const Message& type);

template <typename T>
T read(Value value) {
  T out{};
  if (!k8s::protobuf::read(value, out)) throw std::invalid_argument("a field of another type");
  return out;
}

Json micro_time(Value value) {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  value.fields([&](std::uint32_t number, Value field) {
    (number == 1 ? seconds : nanos) = read<std::int64_t>(field);
    return true;
  });
  return k8s::json::format_micro_time(k8s::Timestamp(
      std::chrono::seconds(seconds) +
      std::chrono::floor<std::chrono::microseconds>(std::chrono::nanoseconds(nanos))));
}

Json json_of(Value value, const Field& field) {
  switch (field.kind) {
    case Kind::kText:
      return read<std::string>(value);
    case Kind::kNumber:
      return read<std::int64_t>(value);
    case Kind::kMicroTime:
      return micro_time(value);
    case Kind::kMessage:
      return json_of(value, *field.type);
    default:
      if (value.varint() == 0 && value.bytes().empty()) return nullptr;
      throw std::invalid_argument(std::string("an unexpected ") + field.name);
  }
}

const Field& field_of(const Message& type, std::uint32_t number) {
  for (const Field& field : type.fields) {
    if (field.number == number) return field;
  }
  throw std::invalid_argument("an unknown field " + std::to_string(number));
}

Json json_of(Value value, const Message& type) {
  Json object = Json::object();
  const bool whole = value.fields([&](std::uint32_t number, Value inner) {
    const Field& field = field_of(type, number);
    if (field.kind == Kind::kMap) {
      std::vector<std::pair<std::string, std::string>> entry;
      if (!k8s::protobuf::read_entry(inner, entry)) throw std::invalid_argument("no map");
      object[field.name][entry.front().first] = entry.front().second;
      return true;
    }
    Json content = json_of(inner, field);
    const bool empty = content.is_null() || content == "" || content == Json::object();
    if (!empty) object[field.name] = std::move(content);
    return true;
  });
  if (!whole) throw std::invalid_argument("not a message");
  return object;
}

}  // namespace

Json json_of_protobuf(std::string_view document) {
  if (!k8s::protobuf::is_document(document)) throw std::invalid_argument("no envelope");
  document.remove_prefix(4);
  Json type;
  std::string_view object;
  k8s::protobuf::Failure failure;
  Value(document, failure).fields([&](std::uint32_t number, Value field) {
    if (number == 1) type = json_of(field, kTypeMeta);
    if (number == 2) object = field.bytes();
    return true;
  });
  const bool is_binding = type.at("kind") == "Binding";
  if (!is_binding && type.at("kind") != "Event") throw std::invalid_argument("unknown kind");
  Json whole = json_of(Value(object, failure), is_binding ? kBinding : kEvent);
  whole.update(type);
  return whole;
}

Json body_of(const k8s::Request& request) {
  return request.content_type == k8s::protobuf::kContentType ? json_of_protobuf(request.body)
                                                             : Json::parse(request.body);
}

}  // namespace tests
