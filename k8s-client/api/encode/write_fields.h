// Writes as JSON whatever has a description of its fields (../fields/description.h). Included only
// by the .cc files of encoding.
#pragma once

#include "k8s-client/api/encode/json.h"
#include "k8s-client/api/fields/kinds.h"
#include "k8s-client/api/words.h"

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace k8s::json {

// An object with room for that many members: as it grows an ordered_json copies all that it has.
[[nodiscard]] Json object_for(std::size_t members);

// ---- the value of a member

Json json_of(const Quantity& quantity);
Json json_of(const Timestamp& time);
Json json_of(const StringMap& map);
Json json_of(const ResourceList& resources);
template <typename T>
Json json_of(const std::vector<T>& list);
template <typename T>
Json json_of(const T& member);

// As what follows a member in its description says.
inline Json json_of(bool /*member*/, const Word& word) { return word.word; }
Json json_of(bool is_first, const Choice& choice);
inline Json json_of(bool member, Negated /*how*/) { return !member; }
Json json_of(const std::vector<std::string>& names, Names how);
Json json_of(const std::vector<std::string>& keys, Keys how);
Json json_of(const std::optional<std::int64_t>& bytes, Bytes how);
Json json_of(const std::optional<Timestamp>& time, MicroTime how);
Json json_of(bool restarts_all, RestartRules how);
Json json_of(const std::optional<InTreeDisk>& disk, const InTree& how);
Json json_of(const std::optional<NodeSelector>& selector, Topologies how);
Json json_of(const Pod::Spec& spec, Volumes how);
template <typename T, typename How>
Json json_of(const T& member, const How& /*how*/) {
  return json_of(member);
}

// ---- whether a member is left out

template <typename T>
bool is_left_out(const T& member) {
  if constexpr (Described<T> || std::is_enum_v<T>) {
    return false;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return member == T{};
  } else if constexpr (requires { member.has_value(); }) {
    return !member.has_value();
  } else if constexpr (requires { member.empty(); }) {
    return member.empty();
  } else {
    return false;
  }
}

template <typename T>
bool is_left_out(const T& /*member*/, Always /*how*/) {
  return false;
}
template <typename T>
bool is_left_out(const T& /*member*/, OnlyWritten /*how*/) {
  return false;
}
inline bool is_left_out(bool is_first, const Choice& how) { return how.absent == is_first; }
inline bool is_left_out(const std::optional<InTreeDisk>& disk, const InTree& how) {
  return !disk || disk->source != how.source.name;
}
inline bool is_left_out(const std::optional<NodeSelector>& selector, Topologies /*how*/) {
  return !selector || selector->terms.empty();
}
inline bool is_left_out(const Pod::Spec& spec, Volumes /*how*/) {
  return spec.volumes.empty() && spec.image_volumes.empty();
}
template <typename T, typename Add>
bool is_left_out(const std::vector<T>& list, const Sifted<Add>& how) {
  return !how.always && list.empty();
}
template <typename T, typename How>
bool is_left_out(const T& member, const How& /*how*/) {
  return is_left_out(member);
}

// ---- objects

template <typename T>
inline constexpr bool kIfAny = false;
template <typename Visit>
inline constexpr bool kIfAny<IfAny<Visit>> = true;

// Gets each line of a description.
class FieldWriter {
 public:
  explicit FieldWriter(Json& object) : members_(object.get_ref<Json::object_t&>()) {}

  template <typename Member, typename How = Plain>
  void operator()(const FieldName& field, const Member& member, const How& how = {}) {
    if (is_left_out(member, how)) return;
    Json value = json_of(member, how);
    if (kIfAny<Member> && value.empty()) return;
    members_.emplace_back(std::string(field.name), std::move(value));
  }

 private:
  Json::object_t& members_;
};

template <Described T>
Json object_of(const T& described) {
  std::size_t count = 0;
  fields(described, [&](const FieldName&, const auto&...) { ++count; });
  Json object = object_for(count);
  fields(described, FieldWriter(object));
  return object;
}

template <typename T>
Json json_of(const T& member) {
  if constexpr (Described<T>) {
    return object_of(member);
  } else if constexpr (std::is_enum_v<T>) {
    return word_of(member);
  } else if constexpr (requires {
                         *member;
                         member.has_value();
                       }) {
    return json_of(*member);
  } else {
    return member;
  }
}

template <typename T>
Json json_of(const std::vector<T>& list) {
  Json items = Json::array();
  for (const T& item : list) items.push_back(json_of(item));
  return items;
}

}  // namespace k8s::json
