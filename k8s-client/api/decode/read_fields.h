// Reads from JSON whatever has a description of its fields (../fields/description.h).
//
// The fields of a document come in its order; each is compared with the names of the description
// one by one. Of two fields with one name the last one counts. Included only by the .cc files of
// this folder.
#pragma once

#include "k8s-client/api/decode/json_value.h"
#include "k8s-client/api/fields/kinds.h"
#include "k8s-client/api/words.h"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s::json {
namespace {

// One field of a document, offered to each line of a description. (Unnamed outside of its source,
// because the compiler then makes one function of the reader and the lines.)
class FieldReader {
 public:
  FieldReader(std::string_view key, const JsonValue& value) : key_(key), value_(value) {}

  template <typename Member, typename How = Plain>
  void operator()(const FieldName& field, Member&& member, const How& how = {}) {
    if (field.name != key_) return;
    if constexpr (std::is_same_v<How, Plain> || std::is_same_v<How, Always>) {
      ok_ = read(value_, member);
    } else if constexpr (!std::is_same_v<How, OnlyWritten>) {
      ok_ = read(value_, member, how);
    }
  }

  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view key_;
  const JsonValue& value_;
  bool ok_ = true;
};

}  // namespace

bool read(JsonValue value, ResourceList& out);

template <Described T>
bool read(JsonValue value, T& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    FieldReader reader(key, field);
    fields(out, reader);
    return reader.ok();
  });
}

template <typename Enum>
requires std::is_enum_v<Enum>
bool read(JsonValue value, Enum& out) {
  std::string_view text;
  if (!read(value, text)) return false;
  out = from_word<Enum>(text);
  return true;
}

// Present by its presence, even if it is empty.
template <typename T>
bool read(JsonValue value, std::optional<T>& out) {
  return read(value, out.emplace());
}

template <typename T>
bool read(JsonValue value, std::vector<T>& out) {
  out.clear();
  out.reserve(value.item_count());
  return value.items([&](JsonValue item) { return read(item, out.emplace_back()); });
}

// ---- as what follows a member in its description says

bool read(JsonValue value, bool& out, const Word& word);
bool read(JsonValue value, bool& out, const Choice& choice);
bool read(JsonValue value, bool& out, Negated how);
bool read(JsonValue value, std::string& out, const Default& none);
bool read(JsonValue value, std::vector<std::string>& out, Names how);
bool read(JsonValue value, std::vector<std::string>& out, Keys how);
bool read(JsonValue value, std::optional<std::int64_t>& out, Bytes how);
bool read(JsonValue value, std::optional<Timestamp>& out, MicroTime how);
bool read(JsonValue value, std::optional<Timestamp>& out, DeletionTime how);
bool read(JsonValue value, bool& restarts_all, RestartRules how);
bool read(JsonValue value, std::optional<InTreeDisk>& out, const InTree& how);
bool read(JsonValue value, std::optional<NodeSelector>& out, Topologies how);
bool read(JsonValue value, Pod::Spec& out, Volumes how);  // read_volumes.cc

// By the description, and the ports of a pod on the host's network (read_host_ports.cc).
bool read(JsonValue value, Pod::Spec& out);

template <typename Enum>
bool read(JsonValue value, std::optional<Enum>& out, UnlessEmpty /*how*/) {
  return value.string_or_empty().empty() || read(value, out);
}

template <typename T>
bool read(JsonValue value, std::optional<T>& out, Last /*how*/) {
  return read(value, out);
}

template <typename T>
bool read(JsonValue value, std::optional<T>& out, Lenient /*how*/) {
  T object;
  out.reset();
  if (read(value, object)) out = std::move(object);
  return true;
}

template <typename Fields, typename Member>
bool read(JsonValue value, Fields& nested, const Present<Member>& present) {
  present.member.emplace();
  return read(value, nested);
}

template <typename T, typename Add>
bool read(JsonValue value, std::vector<T>& out, const Sifted<Add>& sifted) {
  out.clear();
  return value.items([&](JsonValue item) {
    T read_item;
    const bool ok = read(item, read_item);
    sifted.add(std::move(read_item), ok);
    return ok;
  });
}

}  // namespace k8s::json
