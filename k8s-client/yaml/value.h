// A YAML (or JSON) document as a checked tree with the place of each value.
//
// yaml-cpp accepts duplicate keys, shares nodes and converts quoted text to booleans; this tree
// does none of that. Configuration, kubeconfig and manifests are read from it, so that every error
// can name a line and a key path. object_reader.h reads it strictly.
#pragma once

#include "k8s-client/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace k8s::yaml {

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;  // in the document's order, keys unique
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Map>;

  Data data = nullptr;
  int line = 0;      // from 1; 0 if it is from no document
  std::string path;  // "profiles[0].plugins.score"; empty at the root

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(data); }
  [[nodiscard]] const Map* map() const { return std::get_if<Map>(&data); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&data); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data); }
  // The value under `key` of a map, or nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const;
  // "a list", "a string", …: for messages.
  [[nodiscard]] std::string_view kind_name() const;
};

// Whether messages may quote a text. Of a secret text, which may hold credentials, no key and no
// value is ever quoted, whatever the error: the file may be a different one than the user meant.
enum class Contents { kPublic, kSecret };

// The documents of `text`, without empty ones. Rejects duplicate keys, keys that are not plain
// strings, nesting deeper than 64 and documents of more than 16 MiB or a million values (aliases
// count each time they are used). `file` is only for messages: "FILE:LINE: …".
[[nodiscard]] Result<std::vector<Value>> parse(std::string_view text, const std::string& file,
                                               Contents contents = Contents::kPublic);

// The same, read from a file.
[[nodiscard]] Result<std::vector<Value>> parse_file(const std::string& file,
                                                    Contents contents = Contents::kPublic);

// Only its text, for callers that need both the text and its meaning: a file that is read twice may
// have changed in between.
[[nodiscard]] Result<std::string> read_file(const std::string& file);

// As compact JSON.
[[nodiscard]] std::string to_json(const Value& value);

}  // namespace k8s::yaml
