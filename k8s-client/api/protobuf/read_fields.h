// Reads from protobuf whatever has a description of its fields (../fields/description.h).
//
// A field that comes again is one more item of a list or entry of a map, is merged if it is a
// message, and else counts instead of the one before. Included only by the .cc files of this
// folder.
#pragma once

#include "k8s-client/api/fields/kinds.h"
#include "k8s-client/api/protobuf/message.h"
#include "k8s-client/api/words.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s::protobuf {

// How many of a message's fields are maps of texts, if any.
template <typename T>
inline constexpr std::size_t kMapsIn = 0;
template <>
inline constexpr std::size_t kMapsIn<ObjectMeta> = 2;
template <>
inline constexpr std::size_t kMapsIn<LabelSelector> = 1;
template <>
inline constexpr std::size_t kMapsIn<Pod::Spec> = 1;
template <typename Visit>
inline constexpr std::size_t kMapsIn<Nested<Visit>> = 1;

// The entries of a message's maps, until all are known: they replace what a map had.
template <std::size_t kCount>
class Maps {
 public:
  std::vector<StringMap::Entry>& entries_of(StringMap& map) {
    static_assert(kCount > 0);  // kMapsIn does not name the message
    for (auto& [of, entries] : maps_) {
      if (of == nullptr) of = &map;
      if (of == &map) return entries;
    }
    std::abort();  // kMapsIn is too small
  }
  void keep() {
    for (auto& [map, entries] : maps_) {
      if (map != nullptr) *map = StringMap(std::move(entries));
    }
  }

 private:
  std::array<std::pair<StringMap*, std::vector<StringMap::Entry>>, kCount> maps_ = {};
};

namespace {

// One field of a message, offered to each line of a description. (Unnamed outside of its source,
// because the compiler then makes one function of the reader and the lines.)
template <typename Maps>
class FieldReader {
 public:
  FieldReader(std::uint32_t number, const Value& value, Maps& maps)
      : number_(number), value_(value), maps_(maps) {}

  template <typename Member, typename How = Plain>
  void operator()(const FieldName& field, Member&& member, const How& how = {}) {
    if (field.number != number_) return;
    if constexpr (std::is_same_v<Member, StringMap&>) {
      ok_ = read_entry(value_, maps_.entries_of(member));
    } else if constexpr (std::is_same_v<How, Plain> || std::is_same_v<How, Always>) {
      ok_ = read(value_, member);
    } else if constexpr (!std::is_same_v<How, OnlyWritten>) {
      ok_ = read(value_, member, how);
    }
  }

  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::uint32_t number_;
  const Value& value_;
  Maps& maps_;
  bool ok_ = true;
};

}  // namespace

template <Described T>
bool read(const Value& value, T& out) {
  Maps<kMapsIn<T>> maps;
  const bool ok = value.fields([&](std::uint32_t number, const Value& field) {
    FieldReader reader(number, field, maps);
    fields(out, reader);
    return reader.ok();
  });
  maps.keep();
  return ok;
}

// Of two selectors that are merged the labels of the last one count, also if it has none.
inline bool read(const Value& value, LabelSelector& out) {
  out.match_labels = {};
  return read<LabelSelector>(value, out);
}

inline bool read(const Value& value, ResourceList& out) { return read_entry(value, out); }

template <typename Enum>
requires std::is_enum_v<Enum>
bool read(const Value& value, Enum& out) {
  out = from_word<Enum>(value.bytes());
  return true;
}

// Present by its presence, even if it is empty.
template <typename T>
bool read(const Value& value, std::optional<T>& out) {
  return read(value, out ? *out : out.emplace());
}

template <typename T>
bool read(const Value& value, std::vector<T>& out) {
  return read(value, out.emplace_back());
}

// ---- as what follows a member in its description says

bool read(const Value& value, bool& out, const Word& word);
bool read(const Value& value, bool& out, const Choice& choice);
bool read(const Value& value, bool& out, Negated how);
bool read(const Value& value, std::vector<std::string>& out, Names how);
bool read(const Value& value, std::optional<Timestamp>& out, DeletionTime how);
bool read(const Value& value, bool& restarts_all, RestartRules how);
bool read(const Value& value, Pod::Spec& out, Volumes how);  // read_volume.cc

template <typename Enum>
bool read(const Value& value, std::optional<Enum>& out, UnlessEmpty /*how*/) {
  return value.bytes().empty() || read(value, out);
}

template <typename T>
bool read(const Value& value, std::optional<T>& out, Last /*how*/) {
  return read(value, out.emplace());
}

template <typename Fields, typename Member>
bool read(const Value& value, Fields& nested, const Present<Member>& present) {
  present.member.emplace();
  return read(value, nested);
}

template <typename T, typename Add>
bool read(const Value& value, std::vector<T>& /*out*/, const Sifted<Add>& sifted) {
  T item;
  const bool ok = read(value, item);
  sifted.add(std::move(item), ok);
  return ok;
}

}  // namespace k8s::protobuf
