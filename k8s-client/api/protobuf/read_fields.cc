#include "k8s-client/api/protobuf/read_fields.h"

namespace k8s::protobuf {

bool read(const Value& value, bool& out, const Word& word) {
  out = value.bytes() == word.word;
  return true;
}

bool read(const Value& value, bool& out, const Choice& choice) {
  if (value.bytes() == choice.first) out = true;
  if (value.bytes() == choice.second) out = false;
  return true;
}

bool read(const Value& value, bool& out, Negated /*how*/) {
  bool negated = true;
  if (!read(value, negated)) return false;
  out = !negated;
  return true;
}

bool read(const Value& value, std::vector<std::string>& out, Names /*how*/) {
  auto object = named(out.emplace_back());
  return read(value, object);
}

bool read(const Value& value, std::optional<Timestamp>& out, DeletionTime /*how*/) {
  if (!read(value, out)) return false;
  if (!out && !value.bytes().empty()) out = kLastTime;
  return true;
}

bool read(const Value& value, bool& restarts_all, RestartRules /*how*/) {
  return value.fields([&](std::uint32_t number, const Value& field) {
    if (number == 1 && field.bytes() == "RestartAllContainers") restarts_all = true;
    return true;
  });
}

}  // namespace k8s::protobuf
