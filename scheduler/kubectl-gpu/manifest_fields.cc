#include "scheduler/kubectl-gpu/manifest_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched::kubectl {
namespace {

using Json = nlohmann::json;

// A field that is read. It may be absent, or null, which is the same.
struct Field {
  const char* path;  // "spec.replicas"
  enum class Type : std::uint8_t { kObject, kList, kText, kNumber } type;
};
using Type = Field::Type;

const std::vector<Field> kFieldsOfClass = {
    {"metadata", Type::kObject}, {"metadata.name", Type::kText}, {"value", Type::kNumber}};
// What the decoder of pods reads of a template is left to that.
const std::vector<Field> kFieldsOfWorkload = {{"metadata", Type::kObject},
                                              {"metadata.name", Type::kText},
                                              {"metadata.namespace", Type::kText},
                                              {"spec", Type::kObject},
                                              {"spec.replicas", Type::kNumber},
                                              {"spec.parallelism", Type::kNumber},
                                              {"spec.completions", Type::kNumber},
                                              {"spec.template", Type::kObject},
                                              {"spec.template.metadata", Type::kObject},
                                              {"spec.replicatedJobs", Type::kList}};
const std::vector<Field> kFieldsOfReplicatedJob = {
    {"name", Type::kText},
    {"replicas", Type::kNumber},
    {"template", Type::kObject},
    {"template.spec", Type::kObject},
    {"template.spec.parallelism", Type::kNumber},
    {"template.spec.completions", Type::kNumber},
    {"template.spec.template", Type::kObject},
    {"template.spec.template.metadata", Type::kObject}};

const char* in_words(Type type) {
  switch (type) {
    case Type::kObject:
      return "an object";
    case Type::kList:
      return "a list";
    case Type::kText:
      return "a text";
    case Type::kNumber:
      break;
  }
  return "a whole number";
}

std::string in_words(const Json& value) {
  if (value.is_object()) return in_words(Type::kObject);
  if (value.is_array()) return in_words(Type::kList);
  if (value.is_string()) return in_words(Type::kText);
  return value.dump();
}

bool is_of(const Json& value, Type type) {
  switch (type) {
    case Type::kObject:
      return value.is_object();
    case Type::kList:
      return value.is_array();
    case Type::kText:
      return value.is_string();
    case Type::kNumber:
      break;
  }
  return value.is_number_integer();
}

// Takes fields out that are null; an error if one is of another type. `path`: of the object, for
// messages, with its dot. An object's own field stands before those within it.
k8s::Result<void> settle(Json& object, const std::vector<Field>& fields, const std::string& path) {
  for (const auto& [of_field, type] : fields) {
    std::string text = std::string("/") + of_field;
    std::replace(text.begin(), text.end(), '.', '/');
    const Json::json_pointer pointer(text);
    if (!object.contains(pointer)) continue;
    const Json& value = object.at(pointer);
    if (value.is_null()) {
      object.at(pointer.parent_pointer()).erase(pointer.back());
    } else if (!is_of(value, type)) {
      return k8s::decode_error(fmt::format("{}{}: must be {}, found {}", path, of_field,
                                           in_words(type), in_words(value)));
    }
  }
  return {};
}

}  // namespace

k8s::Result<void> settle_class(Json& object) {
  return settle(object, kFieldsOfClass, "PriorityClass: ");
}

k8s::Result<void> settle_workload(Json& object, const std::string& kind) {
  if (auto settled = settle(object, kFieldsOfWorkload, kind + ": "); !settled) return settled;
  const Json::json_pointer jobs("/spec/replicatedJobs");
  if (kind != "JobSet" || !object.contains(jobs)) return {};
  std::size_t at = 0;
  for (Json& job : object.at(jobs)) {
    const std::string path = fmt::format("{}: spec.replicatedJobs[{}]", kind, at++);
    if (!job.is_object()) {
      return k8s::decode_error(
          fmt::format("{}: must be {}, found {}", path, in_words(Type::kObject), in_words(job)));
    }
    auto settled = settle(job, kFieldsOfReplicatedJob, path + ".");
    if (!settled) return settled;
  }
  return {};
}

}  // namespace sched::kubectl
