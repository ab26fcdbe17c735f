#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::json {
namespace {

bool read(JsonValue value, SelectorOperator& out) {
  std::string text;
  if (!json::read(value, text)) return false;
  out = selector_operator(text);
  return true;
}

bool read_requirements(JsonValue value, std::vector<SelectorRequirement>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    SelectorRequirement& requirement = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "key") return json::read(field, requirement.key);
      if (key == "operator") return read(field, requirement.op);
      if (key == "values") return read_list(field, requirement.values);
      return true;
    });
  });
}

}  // namespace

bool read(JsonValue value, LabelSelector& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "matchLabels") return read(field, out.match_labels);
    if (key == "matchExpressions") return read_requirements(field, out.match_expressions);
    return true;
  });
}

bool read(JsonValue value, NodeSelectorTerm& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "matchExpressions") return read_requirements(field, out.match_expressions);
    if (key == "matchFields") return read_requirements(field, out.match_fields);
    return true;
  });
}

bool read(JsonValue value, NodeSelector& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key != "nodeSelectorTerms") return true;
    out.terms.clear();
    return field.items([&](JsonValue item) {
      NodeSelectorTerm term;
      const bool ok = read(item, term);
      out.add(std::move(term));
      return ok;
    });
  });
}

}  // namespace k8s::json
