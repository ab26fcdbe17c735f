#include "k8s-client/api/defaults.h"

#include <algorithm>
#include <vector>

namespace k8s {
namespace {

void default_requests(std::vector<Container>& containers) {
  for (Container& container : containers) {
    for (const auto& [name, quantity] : container.limits) {
      const bool requested =
          std::any_of(container.requests.begin(), container.requests.end(),
                      [&, wanted = name](const auto& request) { return request.first == wanted; });
      if (!requested) container.requests.emplace_back(name, quantity);
    }
  }
}

}  // namespace

void set_defaults(Pod& pod, std::string_view namespace_) {
  if (pod.metadata.namespace_.empty()) pod.metadata.namespace_ = namespace_;
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = "default-scheduler";
  default_requests(pod.spec.init_containers);
  default_requests(pod.spec.containers);
}

}  // namespace k8s
