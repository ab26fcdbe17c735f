#include "k8s-client/yaml/value.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace k8s::yaml {
namespace {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_json(std::string& out, const Value& value);

void append_list(std::string& out, const Value::List& list) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append_json(out, list[i]);
  }
  out += ']';
}

void append_map(std::string& out, const Value::Map& map) {
  out += '{';
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (i > 0) out += ',';
    append_string(out, map[i].first);
    out += ':';
    append_json(out, map[i].second);
  }
  out += '}';
}

void append_json(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += "null";
  } else if (const auto* flag = std::get_if<bool>(&value.data)) {
    out += *flag ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&value.data)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value.data)) {
    out += *number == 0 ? "0" : fmt::format("{}", *number);  // 0, not -0
  } else if (const auto* text = value.string()) {
    append_string(out, *text);
  } else if (const auto* list = value.list()) {
    append_list(out, *list);
  } else {
    append_map(out, *value.map());
  }
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  const auto* entries = map();
  if (entries == nullptr) return nullptr;
  for (const auto& [name, value] : *entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string_view Value::kind_name() const {
  switch (data.index()) {
    case 0:
      return "null";
    case 1:
      return "a boolean";
    case 2:
      return "an integer";
    case 3:
      return "a number";
    case 4:
      return "a string";
    case 5:
      return "a list";
    default:
      return "a map";
  }
}

Result<std::string> read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream || stream.bad() || text.bad()) {
    return config_error(file + ": cannot be read: " + std::strerror(errno));
  }
  return std::move(text).str();
}

Result<std::vector<Value>> parse_file(const std::string& file, Contents contents) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, file, contents);
}

std::string to_json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace k8s::yaml
