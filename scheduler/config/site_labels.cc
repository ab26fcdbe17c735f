#include "scheduler/config/site_labels.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sched::config {

namespace {

// Limited, because each label is looked up on each node that changes.
constexpr std::size_t kMostLabels = 8;

// Kubernetes' rule for the key of a label, as far as it can be checked here: an optional prefix and
// "/", then a name of at most 63 characters.
bool may_be_a_label(std::string_view key) {
  const std::string_view name = key.substr(key.find('/') + 1);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  };
  return !name.empty() && name.size() <= 63 && std::all_of(key.begin(), key.end(), fits) &&
         std::count(key.begin(), key.end(), '/') <= 1;
}

std::vector<std::string> read_labels(k8s::yaml::ObjectReader& fields, const char* key) {
  std::vector<std::string> labels = fields.strings(key);
  if (labels.size() > kMostLabels) fields.complain(key, "names more than 8 labels");
  for (const std::string& label : labels) {
    if (!may_be_a_label(label)) fields.complain(key, "\"" + label + "\" is not a label's key");
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
