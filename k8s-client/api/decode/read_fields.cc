#include "k8s-client/api/decode/read_fields.h"

#include <algorithm>
#include <map>

namespace k8s::json {
namespace {

bool has_duplicates(const ResourceList& list) {
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const auto& [name, amount] : list) names.push_back(name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// If entries have one name the last one counts, as in every JSON map; at the place of the first.
void keep_last(ResourceList& list) {
  if (!has_duplicates(list)) return;
  std::map<std::string, Quantity> last;
  for (const auto& [name, amount] : list) last[name] = amount;
  ResourceList kept;
  for (const auto& [name, amount] : list) {
    if (auto entry = last.extract(name)) kept.emplace_back(std::move(entry.key()), entry.mapped());
  }
  list = std::move(kept);
}

}  // namespace

bool read(JsonValue value, ResourceList& out) {
  out.clear();
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    auto& [name, quantity] = out.emplace_back(key, Quantity());
    return read(field, quantity);
  });
  keep_last(out);
  return ok;
}

bool read(JsonValue value, bool& out, const Word& word) {
  std::string_view text;
  if (!read(value, text)) return false;
  out = text == word.word;
  return true;
}

bool read(JsonValue value, bool& out, const Choice& choice) {
  std::string_view text;
  if (!read(value, text)) return false;
  if (text == choice.first) out = true;
  if (text == choice.second) out = false;
  return true;
}

bool read(JsonValue value, bool& out, Negated /*how*/) {
  bool negated = true;
  if (!read(value, negated)) return false;
  out = !negated;
  return true;
}

bool read(JsonValue value, std::string& out, const Default& none) {
  if (!read(value, out)) return false;
  if (out == none.word) out.clear();
  return true;
}

bool read(JsonValue value, std::vector<std::string>& out, Names /*how*/) {
  out.clear();
  return value.items([&](JsonValue item) {
    auto object = named(out.emplace_back());
    return read(item, object);
  });
}

// A key counts whatever its value: Go writes a time that is not set as null.
bool read(JsonValue value, std::vector<std::string>& out, Keys /*how*/) {
  out.clear();
  if (!value.keys([&](std::string_view key) { out.emplace_back(key); })) return false;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return true;
}

bool read(JsonValue value, std::optional<std::int64_t>& out, Bytes /*how*/) {
  Quantity quantity;
  if (!read(value, quantity)) return false;
  out = quantity.value();
  return true;
}

bool read(JsonValue value, std::optional<Timestamp>& out, MicroTime /*how*/) {
  return read(value, out);
}

bool read(JsonValue value, std::optional<Timestamp>& out, DeletionTime /*how*/) {
  return read(value, out);
}

bool read(JsonValue value, bool& restarts_all, RestartRules /*how*/) {
  return value.items([&](JsonValue item) {
    return item.fields([&](std::string_view key, JsonValue field) {
      std::string_view action;
      if (key == "action" && !read(field, action)) return false;
      restarts_all = restarts_all || action == "RestartAllContainers";
      return true;
    });
  });
}

bool read(JsonValue value, std::optional<InTreeDisk>& out, const InTree& how) {
  InTreeDisk& disk = out.emplace();
  disk.source = how.source.name;
  Nested source{[&](auto&& field) { field(how.source.id, disk.id); }};
  return read(value, source);
}

// corev1.TopologySelectorTerm: a requirement has no operator, the label has one of its values.
bool read(JsonValue value, std::optional<NodeSelector>& out, Topologies /*how*/) {
  out.reset();
  return value.items([&](JsonValue item) {
    if (!out) out.emplace();
    auto& requirements = out->terms.emplace_back().match_expressions;
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key != "matchLabelExpressions") return true;
      requirements.clear();
      return field.items([&](JsonValue requirement) {
        auto topology = one_of_values(requirements.emplace_back());
        requirements.back().op = SelectorOperator::kIn;
        return read(requirement, topology);
      });
    });
  });
}

}  // namespace k8s::json
