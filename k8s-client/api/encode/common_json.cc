#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"

namespace k8s::json {
namespace {

std::string_view word(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return "In";
    case SelectorOperator::kNotIn:
      return "NotIn";
    case SelectorOperator::kExists:
      return "Exists";
    case SelectorOperator::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOperator::kGt:
      return "Gt";
    case SelectorOperator::kLt:
      return "Lt";
    case SelectorOperator::kUnknown:
      break;
  }
  return "Unknown";
}

Json to_json(const SelectorRequirement& requirement) {
  Json object;
  object["key"] = requirement.key;
  object["operator"] = word(requirement.op);
  set(object, "values", requirement.values);
  return object;
}

Json to_json(const OwnerReference& owner) {
  Json object = object_for(5);
  object["apiVersion"] = owner.api_version;
  object["kind"] = owner.kind;
  object["name"] = owner.name;
  object["uid"] = owner.uid;
  if (owner.controller) object["controller"] = true;
  return object;
}

}  // namespace

Json object_for(std::size_t members) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(members);
  return object;
}

std::string_view word(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kUnknown:
      break;
  }
  return "Unknown";
}

void set(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}
void set(Json& object, const char* key, const std::vector<std::string>& value) {
  if (!value.empty()) object[key] = value;
}
void set(Json& object, const char* key, const StringMap& value) {
  if (!value.empty()) object[key] = to_json(value);
}
void set(Json& object, const char* key, const ResourceList& value) {
  if (!value.empty()) object[key] = to_json(value);
}

Json to_json(const StringMap& map) {
  Json object = object_for(map.size());
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Json to_json(const ResourceList& resources) {
  Json object = object_for(resources.size());
  for (const auto& [name, quantity] : resources) object[name] = quantity.to_string();
  return object;
}

Json to_json(const ObjectMeta& metadata) {
  Json object = object_for(10);
  set(object, "name", metadata.name);
  set(object, "namespace", metadata.namespace_);
  set(object, "uid", metadata.uid);
  set(object, "resourceVersion", metadata.resource_version);
  if (metadata.generation != 0) object["generation"] = metadata.generation;
  set(object, "labels", metadata.labels);
  set(object, "annotations", metadata.annotations);
  if (metadata.creation_timestamp) {
    object["creationTimestamp"] = format_rfc3339(*metadata.creation_timestamp);
  }
  if (metadata.deletion_timestamp) {
    object["deletionTimestamp"] = format_rfc3339(*metadata.deletion_timestamp);
  }
  for (const auto& owner : metadata.owner_references) {
    object["ownerReferences"].push_back(to_json(owner));
  }
  return object;
}

Json to_json(const LabelSelector& selector) {
  Json object = Json::object();
  set(object, "matchLabels", selector.match_labels);
  for (const auto& requirement : selector.match_expressions) {
    object["matchExpressions"].push_back(to_json(requirement));
  }
  return object;
}

Json to_json(const NodeSelectorTerm& term) {
  Json object = Json::object();
  for (const auto& requirement : term.match_expressions) {
    object["matchExpressions"].push_back(to_json(requirement));
  }
  for (const auto& requirement : term.match_fields) {
    object["matchFields"].push_back(to_json(requirement));
  }
  return object;
}

Json to_json(const NodeSelector& selector) {
  Json terms = Json::array();
  for (const auto& term : selector.terms) terms.push_back(to_json(term));
  Json object;
  object["nodeSelectorTerms"] = std::move(terms);
  return object;
}

}  // namespace k8s::json
