// The defaults that the API server fills in when an object is created, for objects that did not
// come from one: manifests. Only what a scheduler reads. Source: kubernetes
// pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go.
//
// hostPort of a pod with hostNetwork is filled in by the decoder, which drops other ports, and
// pod-level requests by set_pod_level_requests() (scheduler/framework/pod_requests.h). Left out:
// what admission plugins add.
#pragma once

#include "k8s-client/api/pod.h"

#include <string_view>

namespace k8s {

// The namespace, if none is named; the default scheduler's name; for each limit without a request a
// request of the same amount; and in the selectors of pod affinity what matchLabelKeys and
// mismatchLabelKeys mean for the pod's labels. A pod from an API server is not changed.
void set_defaults(Pod& pod, std::string_view namespace_);

}  // namespace k8s
