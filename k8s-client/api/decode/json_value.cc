#include "k8s-client/api/decode/json_value.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/ascii.h"
#include "k8s-client/shown.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

namespace k8s::json {
namespace {

std::string_view kind_name(simdjson::dom::element element) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "a list";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "a boolean";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

// The number's text; empty if it is not a number.
std::string number_text(simdjson::dom::element element) {
  std::int64_t integer = 0;
  if (element.get(integer) == simdjson::SUCCESS) return std::to_string(integer);
  std::uint64_t natural = 0;
  if (element.get(natural) == simdjson::SUCCESS) return std::to_string(natural);
  double number = 0;
  if (element.get(number) == simdjson::SUCCESS) return fmt::format("{}", number);
  return {};
}

}  // namespace

bool JsonValue::fail(std::string text) const {
  failure_->path.clear();
  failure_->text = std::move(text);
  return false;
}

bool JsonValue::fail_type(std::string_view wanted) const {
  return fail(fmt::format("must be {}, found {}", wanted, kind_name(element_)));
}

void JsonValue::failed_at_key(std::string_view key) const {
  std::string& path = failure_->path;
  // Resource names, labels: a key that is not an identifier is put in brackets.
  const bool bracketed = key.empty() || key.find_first_of("./[] ") != std::string_view::npos;
  const std::string own = bracketed ? fmt::format("[{}]", key) : std::string(key);
  const bool joined = path.empty() || path.front() == '[';
  path = own + (joined ? "" : ".") + path;
}

void JsonValue::failed_at_index(std::size_t index) const {
  std::string& path = failure_->path;
  const bool joined = path.empty() || path.front() == '[';
  path = fmt::format("[{}]{}{}", index, joined ? "" : ".", path);
}

bool JsonValue::failed_with(Failure failure) const {
  *failure_ = std::move(failure);
  return false;
}

bool read(JsonValue value, std::string_view& out) {
  if (value.is_null() || value.element().get(out) == simdjson::SUCCESS) return true;
  return value.fail_type("a string");
}

bool read(JsonValue value, std::string& out) {
  if (value.is_null()) return true;
  std::string_view text;
  if (!read(value, text)) return false;
  out = text;
  return true;
}

bool read(JsonValue value, bool& out) {
  if (value.is_null()) return true;
  if (value.element().get(out) != simdjson::SUCCESS) return value.fail_type("true or false");
  return true;
}

bool read(JsonValue value, std::int64_t& out) {
  if (value.is_null()) return true;
  if (value.element().get(out) == simdjson::SUCCESS) return true;
  if (value.element().is_number()) return value.fail("must be an integer of 64 bits");
  return value.fail_type("an integer");
}

bool read(JsonValue value, std::int32_t& out) {
  std::int64_t wide = out;
  if (!read(value, wide)) return false;
  using Limits = std::numeric_limits<std::int32_t>;
  if (wide < Limits::min() || wide > Limits::max()) {
    return value.fail(fmt::format("must be an integer of 32 bits, found {}", wide));
  }
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool read(JsonValue value, StringMap& out) {
  std::vector<StringMap::Entry> entries;
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    auto& entry = entries.emplace_back(key, std::string());
    return read(field, entry.second);
  });
  if (ok) out = StringMap(std::move(entries));
  return ok;
}

bool read(JsonValue value, Timestamp& out) {
  if (value.is_null()) return true;
  std::string_view text;
  if (value.element().get(text) != simdjson::SUCCESS) return value.fail_type("a time");
  const auto time = parse_rfc3339(text);
  if (!time) return value.fail(fmt::format("'{}' is not a time as in RFC 3339", shown(text)));
  out = *time;
  return true;
}

bool read(JsonValue value, Quantity& out) {
  if (value.is_null()) return true;
  std::string_view text;
  std::string number;
  if (value.element().get(text) != simdjson::SUCCESS) {
    number = number_text(value.element());
    if (number.empty()) return value.fail_type("a string or a number");
    text = number;
  }
  auto quantity = Quantity::parse(trimmed(text));
  if (!quantity) return value.fail(std::move(quantity.error().message));
  out = *quantity;
  return true;
}

}  // namespace k8s::json
