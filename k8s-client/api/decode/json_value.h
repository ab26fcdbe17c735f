// A JSON value being read into a struct, and where in the document a reading failed.
//
// Every `read` function fills one struct from one JsonValue and returns false if it cannot. The
// path to the field is put together only then, while the calls return: success costs nothing for
// it. After a field that cannot be read, the other fields are read nevertheless, so that as much as
// possible of a bad object is known; the reported failure is that of the first field. null is read
// as absence everywhere. Included only by the .cc files of this folder, because simdjson is a heavy
// include.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/quantity.h"

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::json {

struct Failure {
  std::string path;  // "spec.containers[0].name"
  std::string text;
};

class JsonValue {
 public:
  JsonValue(simdjson::dom::element element, Failure& failure)
      : element_(element), failure_(&failure) {}

  [[nodiscard]] bool is_null() const { return element_.is_null(); }

  // Calls `each(key, value) -> bool` for every field that is not null, in the document's order.
  template <typename Each>
  bool fields(const Each& each) const {
    if (is_null()) return true;
    simdjson::dom::object object;
    if (element_.get(object) != simdjson::SUCCESS) return fail_type("an object");
    std::optional<Failure> first;
    for (const auto& field : object) {
      if (field.value.is_null()) continue;
      if (each(field.key, JsonValue(field.value, *failure_))) continue;
      failed_at_key(field.key);
      if (!first) first = *failure_;
    }
    return !first || failed_with(*std::move(first));
  }

  // Calls `each(key)` for every field, also for those that are null, in the document's order.
  template <typename Each>
  bool keys(const Each& each) const {
    if (is_null()) return true;
    simdjson::dom::object object;
    if (element_.get(object) != simdjson::SUCCESS) return fail_type("an object");
    for (const auto& field : object) each(field.key);
    return true;
  }

  // Calls `each(value) -> bool` for every item.
  template <typename Each>
  bool items(const Each& each) const {
    if (is_null()) return true;
    simdjson::dom::array array;
    if (element_.get(array) != simdjson::SUCCESS) return fail_type("a list");
    std::optional<Failure> first;
    std::size_t index = 0;
    for (const auto& item : array) {
      if (!each(JsonValue(item, *failure_))) {
        failed_at_index(index);
        if (!first) first = *failure_;
      }
      ++index;
    }
    return !first || failed_with(*std::move(first));
  }

  // The field `key` of an object, or nothing. For looking ahead; does not fail.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const {
    simdjson::dom::element found;
    if (element_.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
    return JsonValue(found, *failure_);
  }
  [[nodiscard]] std::string_view string_or_empty() const {
    std::string_view text;
    return element_.get(text) == simdjson::SUCCESS ? text : std::string_view();
  }
  // How many items a list has; 0 for anything else.
  [[nodiscard]] std::size_t item_count() const {
    simdjson::dom::array array;
    return element_.get(array) == simdjson::SUCCESS ? array.size() : 0;
  }

  // Records why this value cannot be read. Always false, for `return value.fail(…)`.
  bool fail(std::string text) const;
  bool fail_type(std::string_view wanted) const;

  [[nodiscard]] simdjson::dom::element element() const { return element_; }

 private:
  void failed_at_key(std::string_view key) const;
  void failed_at_index(std::size_t index) const;
  bool failed_with(Failure failure) const;

  simdjson::dom::element element_;
  Failure* failure_;
};

// Of the document, while that is there.
bool read(JsonValue value, std::string_view& out);
bool read(JsonValue value, std::string& out);
bool read(JsonValue value, bool& out);
bool read(JsonValue value, std::int32_t& out);
bool read(JsonValue value, std::int64_t& out);
bool read(JsonValue value, StringMap& out);
// RFC 3339, with or without a fraction of a second; digits beyond microseconds are cut off.
bool read(JsonValue value, Timestamp& out);
// A string or a number; resource.Quantity accepts both.
bool read(JsonValue value, Quantity& out);

}  // namespace k8s::json
