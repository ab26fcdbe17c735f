#include "scheduler/config/site_labels.h"

#include "scheduler/base/qualified_name.h"

#include <string>
#include <vector>

namespace sched::config {

namespace {

// Limited, because each label is looked up on each node that changes.
constexpr std::size_t kMostLabels = 8;

std::vector<std::string> read_labels(k8s::yaml::ObjectReader& fields, const char* key) {
  std::vector<std::string> labels = fields.strings(key);
  if (labels.size() > kMostLabels) fields.complain(key, "names more than 8 labels");
  for (const std::string& label : labels) {
    if (!is_qualified_name(label)) fields.complain(key, "\"" + label + "\" is not a label's key");
  }
  return labels;
}

}  // namespace

gpu::SiteLabels read_site_labels(k8s::yaml::ObjectReader& document) {
  gpu::SiteLabels site;
  document.object("gpuLabels", [&](k8s::yaml::ObjectReader& fields) {
    site.product = read_labels(fields, "product");
    site.memory = read_labels(fields, "memory");
  });
  return site;
}

}  // namespace sched::config
