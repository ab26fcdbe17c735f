#include "k8s-client/yaml/object_reader.h"

#include "k8s-client/shown.h"

#include <algorithm>

namespace k8s::yaml {
namespace {

template <typename Words>
std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string wrong_type(const Value& found, std::string_view wanted, Contents contents) {
  std::string text = "must be " + std::string(wanted) + ", found " + std::string(found.kind_name());
  const bool scalar = !found.is_null() && found.list() == nullptr && found.map() == nullptr;
  if (wanted == "a string" && scalar) text += "; put it in quotes";
  // A text in the place of a map may be a whole file, so it is not quoted. Nor is one that should
  // be a string.
  const bool quotes = contents == Contents::kPublic && wanted != "a string" && wanted != "a map";
  if (quotes && found.string() != nullptr) text += " '" + shown(*found.string()) + "'";
  return text;
}

Error complaint(const std::string& file, int line, const std::string& path,
                const std::string& text) {
  Error error;
  error.kind = ErrorKind::kConfig;
  if (!file.empty()) {
    error.message = file;
    if (line > 0) error.message += ":" + std::to_string(line);
    error.message += ": ";
  }
  if (!path.empty()) error.message += path + ": ";
  error.message += text;
  return error;
}

}  // namespace

ObjectReader::ObjectReader(const Value& value, std::string file, Contents contents)
    : value_(&value), file_(std::move(file)), contents_(contents) {
  if (!value.is_null() && value.map() == nullptr) {
    complain("", wrong_type(value, "a map", contents));
  }
}

const Value* ObjectReader::raw(std::string_view key) {
  read_.emplace(key);
  return value_->find(key);
}

const Value* ObjectReader::find(std::string_view key) {
  const Value* found = raw(key);
  return found == nullptr || found->is_null() || error_ ? nullptr : found;
}

void ObjectReader::complain(std::string_view key, const std::string& text) {
  if (error_) return;
  const Value* at = key.empty() ? value_ : value_->find(key);
  std::string path = value_->path;
  if (at != nullptr) {
    path = at->path;
  } else {
    path += (path.empty() ? "" : ".") + std::string(key);
    at = value_;
  }
  error_ = complaint(file_, at->line, path, text);
}

void ObjectReader::complain_type(std::string_view key, const Value& found,
                                 std::string_view wanted) {
  complain(key, wrong_type(found, wanted, contents_));
}

std::string ObjectReader::quoted(std::string_view lead, const std::string& value) const {
  return contents_ == Contents::kSecret ? "" : std::string(lead) + shown(value);
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
  const Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* text = found->string()) return *text;
  complain_type(key, *found, "a string");
  return std::nullopt;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* flag = std::get_if<bool>(&found->data)) return *flag;
  complain_type(key, *found, "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key, IntegerRange range) {
  const Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&found->data);
  if (integer == nullptr) {
    complain_type(key, *found, "an integer");
    return std::nullopt;
  }
  if (*integer < range.min || *integer > range.max) {
    std::string limits = "at least " + std::to_string(range.min);
    if (range.max != IntegerRange{}.max) limits += " and at most " + std::to_string(range.max);
    if (range.min == IntegerRange{}.min) limits = "at most " + std::to_string(range.max);
    complain(key, "must be " + limits + quoted(", found ", std::to_string(*integer)));
    return std::nullopt;
  }
  return *integer;
}

std::optional<double> ObjectReader::number(std::string_view key) {
  const Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(&found->data)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&found->data)) {
    return static_cast<double>(*integer);
  }
  complain_type(key, *found, "a number");
  return std::nullopt;
}

std::vector<std::string> ObjectReader::strings(std::string_view key) {
  const Value* found = find(key);
  if (found == nullptr) return {};
  if (found->list() == nullptr) {
    complain_type(key, *found, "a list of strings");
    return {};
  }
  std::vector<std::string> result;
  for (const Value& item : *found->list()) {
    if (item.string() == nullptr) {
      error_ = complaint(file_, item.line, item.path, wrong_type(item, "a string", contents_));
      return {};
    }
    result.push_back(*item.string());
  }
  return result;
}

std::optional<std::string> ObjectReader::one_of(std::string_view key,
                                                const std::vector<std::string_view>& allowed) {
  auto text = string(key);
  if (!text || std::find(allowed.begin(), allowed.end(), *text) != allowed.end()) return text;
  complain(key, "must be one of " + joined(allowed) + quoted("; found ", "'" + *text + "'"));
  return std::nullopt;
}

void ObjectReader::object(std::string_view key, const std::function<void(ObjectReader&)>& read) {
  const Value* found = find(key);
  if (found == nullptr) return;
  ObjectReader reader(*found, file_, contents_);
  read(reader);
  error_ = reader.finish();
}

void ObjectReader::objects(std::string_view key, const std::function<void(ObjectReader&)>& read) {
  const Value* found = find(key);
  if (found == nullptr) return;
  if (found->list() == nullptr) return complain_type(key, *found, "a list");
  for (const Value& item : *found->list()) {
    if (error_) return;
    ObjectReader reader(item, file_, contents_);
    read(reader);
    error_ = reader.finish();
  }
}

void ObjectReader::allow_unknown() { allow_unknown_ = true; }

std::optional<Error> ObjectReader::finish() {
  if (error_ || allow_unknown_ || value_->map() == nullptr) return error_;
  for (const auto& [key, value] : *value_->map()) {
    if (read_.contains(key)) continue;
    std::string text = "unknown field";
    if (!read_.empty()) text += "; known here: " + joined(read_);
    complain(contents_ == Contents::kPublic ? key : "", text);
    break;
  }
  return error_;
}

}  // namespace k8s::yaml
