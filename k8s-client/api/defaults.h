// What the API server fills in when an object is created, for objects that never met one:
// manifests. Only what a scheduler reads. Source: kubernetes pkg/apis/core/v1/defaults.go.
#pragma once

#include "k8s-client/api/pod.h"

#include <string_view>

namespace k8s {

// The namespace, if none is named, the default scheduler's name, and for each limit without a
// request a request of the same amount. A pod that an API server has seen stays as it is.
void set_defaults(Pod& pod, std::string_view namespace_);

}  // namespace k8s
