#include "k8s-client/api/encode.h"

#include "k8s-client/api/encode/write_fields.h"
#include "k8s-client/json_text.h"

namespace k8s {

namespace json {

Json to_json(const ClaimReference& claim) { return object_of(claim); }
Json to_json(const GpuQuota::Status& status) { return object_of(status); }

}  // namespace json

template <typename T>
std::string encode(const T& object) {
  json::Json whole = json::object_for(5);
  whole["apiVersion"] = T::kKind.api_version;
  whole["kind"] = T::kKind.name;
  fields(object, json::FieldWriter(whole));
  return json_text(whole);
}

#define K8S_ENCODABLE(T) template std::string encode<T>(const T&)
K8S_EACH_KIND(K8S_ENCODABLE);
#undef K8S_ENCODABLE

}  // namespace k8s
