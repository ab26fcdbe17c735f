// Pods from manifest files, as the API server would have taken them.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"

#include <string>
#include <vector>

namespace bench {

// Every Pod of a YAML file of one or more documents; another kind is an error. What the API server
// adds is added: a namespace, a uid, requests from limits, the default scheduler's name.
[[nodiscard]] k8s::Result<std::vector<k8s::Pod>> load_pods(const std::string& file,
                                                           const std::string& namespace_);

}  // namespace bench
