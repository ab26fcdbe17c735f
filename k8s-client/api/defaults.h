// The defaults that the API server fills in when an object is created, for objects that did not
// come from one: manifests. Only what a scheduler reads. Source: kubernetes
// pkg/apis/core/v1/defaults.go.
#pragma once

#include "k8s-client/api/pod.h"

#include <string_view>

namespace k8s {

// The namespace, if none is named, the default scheduler's name, and for each limit without a
// request a request of the same amount. A pod from an API server is not changed.
void set_defaults(Pod& pod, std::string_view namespace_);

}  // namespace k8s
