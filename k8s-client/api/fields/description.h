// How the fields of a type are described: once, for the readers of JSON and of protobuf and for the
// writer of JSON.
//
//   void fields(Of<Toleration> auto& toleration, auto&& field) {
//     field({"key", 1}, toleration.key);
//     field({"operator", 2}, toleration.op);
//     …
//
// calls `field` for each field, with its name in JSON, its number in Kubernetes' generated.proto
// (which never changes its meaning) and the member. A field without a number is not read from
// protobuf; most kinds have none. To read and write one more field is to add one line here.
//
// The order is that of written JSON. What is written follows from the member's type: an empty text,
// list or map, an absent optional, false and 0 are left out; a struct, a quantity and an
// enumeration (words.h) are always written. Where that is not the rule, or the member is not what
// the document has, one of the structs below follows the member. What is more than a list of fields
// is written by hand beside the three: decode/read_fields.h, protobuf/read_fields.h and
// encode/write_fields.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace k8s {

// T is one of these types, or const where it is written.
template <typename T, typename... Types>
concept Of = (std::same_as<std::remove_const_t<T>, Types> || ...);

// T has a description.
template <typename T>
concept Described = requires(T& object, void (&field)()) {
  fields(object, field);
};

struct FieldName {
  // Implicit, so that a description is short.
  template <typename Text>
  constexpr FieldName(const Text& name_in_json, std::uint32_t number_in_protobuf = 0)
      : name(name_in_json), number(number_in_protobuf) {}

  std::string_view name;
  std::uint32_t number;  // 0: not in protobuf
};

// An object of the document whose fields are members of its parent. `visit` is like fields().
template <typename Visit>
struct Nested {
  Visit visit;
};
template <typename Visit>
Nested(Visit) -> Nested<Visit>;

// The same, but left out if it is empty.
template <typename Visit>
struct IfAny {
  Visit visit;
};
template <typename Visit>
IfAny(Visit) -> IfAny<Visit>;

template <typename Visit>
void fields(const Nested<Visit>& nested, auto&& field) {
  nested.visit(field);
}
template <typename Visit>
void fields(const IfAny<Visit>& nested, auto&& field) {
  nested.visit(field);
}

// ---- what may follow a member

struct Plain {};
// Written even if it is empty, false or 0.
struct Always {};
// Not read.
struct OnlyWritten {};
// A boolean: whether a text is this word.
struct Word {
  std::string_view word;
};
// A boolean: whether a text is the first of two words. Unchanged if it is neither; not written if
// it is `absent`.
struct Choice {
  std::string_view first;
  std::string_view second;
  std::optional<bool> absent = std::nullopt;
};
// A boolean: false in the document if it is true here. Written if it is.
struct Negated {};
// An optional enumeration: an empty word means the same as none.
struct UnlessEmpty {};
// A text: this word means the same as none and is not kept.
struct Default {
  std::string_view word;
};
// An optional struct: of two in one message of protobuf the second one counts; others are merged.
struct Last {};
// An optional struct: absent if it cannot be read, which is no failure.
struct Lenient {};
// A list of texts: the names of objects of which nothing else is read.
struct Names {};
auto named(auto& name) {
  return Nested{[&](auto&& object) { object({"name", 1}, name, Always{}); }};
}
// A list of texts: the keys of an object, whatever their values are; sorted, each once.
struct Keys {};
// An optional number: a quantity, rounded up.
struct Bytes {};
// An optional time: metav1.MicroTime, which always has six digits after the second.
struct MicroTime {};

// A Nested whose presence has a meaning, even if it is empty: `member` then has a value.
template <typename Optional>
struct Present {
  Optional& member;
};
template <typename Optional>
Present(Optional&) -> Present<Optional>;

// A list of which `add(item, was_read)` keeps what is of use. (It takes `auto`, because it would
// not compile where the list is const.)
template <typename Add>
struct Sifted {
  Add add;
  bool always = false;  // written even if it is empty
};
template <typename Add, typename... Always>
Sifted(Add, Always...) -> Sifted<Add>;

}  // namespace k8s
