// Reads a map field by field and reports every error in it.
//
// Usage: construct it over a Value, read the fields, then call finish(). The first error is stored
// and later reads return their defaults, so that a reader function is a plain list of fields and
// one check at the end. A key that was not read is an error, too: nothing that a user writes is
// ignored.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/yaml/value.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::yaml {

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

class ObjectReader {
 public:
  // `value` must outlive the reader. A null value reads as an empty map. An empty `file`: errors
  // begin with the path.
  ObjectReader(const Value& value, std::string file, Contents contents = Contents::kPublic);

  // Absent (or null) fields give nullopt; a wrong type is an error and gives nullopt.
  std::optional<std::string> string(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, IntegerRange range = {});
  std::optional<double> number(std::string_view key);
  std::vector<std::string> strings(std::string_view key);
  // One of the allowed words; anything else is an error that lists them.
  std::optional<std::string> one_of(std::string_view key,
                                    const std::vector<std::string_view>& allowed);

  // Calls `read` with a reader over the map under `key`, if there is one; its errors go into this
  // one.
  void object(std::string_view key, const std::function<void(ObjectReader&)>& read);
  // The same for each map of the list under `key`.
  void objects(std::string_view key, const std::function<void(ObjectReader&)>& read);

  // The raw value under `key`, which counts as read; nullptr if absent.
  const Value* raw(std::string_view key);

  // Counts every key as read: for files of which only a part is supported (kubeconfig).
  void allow_unknown();

  // Adds an error about `key` (or about the whole object, if empty): "FILE:LINE: PATH: TEXT".
  void complain(std::string_view key, const std::string& text);

  // The first error; or that of the first key that was not read; or nothing.
  [[nodiscard]] std::optional<Error> finish();

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const Value& value() const { return *value_; }

 private:
  const Value* find(std::string_view key);
  void complain_type(std::string_view key, const Value& found, std::string_view wanted);
  // The value found, after `lead`, if it may be quoted.
  [[nodiscard]] std::string quoted(std::string_view lead, const std::string& value) const;

  const Value* value_;
  std::string file_;
  Contents contents_;
  std::set<std::string, std::less<>> read_;
  bool allow_unknown_ = false;
  std::optional<Error> error_;
};

}  // namespace k8s::yaml
