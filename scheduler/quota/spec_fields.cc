#include "scheduler/quota/spec_fields.h"

#include "k8s-client/yaml/object_reader.h"

namespace sched::quota {

std::optional<k8s::Error> unknown_field(const k8s::yaml::Value& quota, const std::string& file) {
  using k8s::yaml::ObjectReader;
  ObjectReader reader(quota, file);
  for (const char* key : {"apiVersion", "kind", "metadata", "status"}) reader.raw(key);
  reader.object("spec", [](ObjectReader& spec) {
    for (const char* key : {"cohort", "maxGpusPerPod", "namespaceSelector", "namespaces", "order",
                            "parent", "weight", "whenDeleted"}) {
      spec.raw(key);
    }
    spec.objects("quotas", [](ObjectReader& line) {
      for (const char* key : {"gpuType", "guaranteed", "lendable", "limit"}) line.raw(key);
    });
  });
  return reader.finish();
}

}  // namespace sched::quota
