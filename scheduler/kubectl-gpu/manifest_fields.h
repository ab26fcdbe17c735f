// The types of what is read of manifests that no decoder of k8s-client/api reads: workloads
// and priority classes.
//
// An API server takes a field that is null as absent, and refuses one of a wrong type. Each of
// these functions takes the fields that are null out of the object, so that the others may be read
// as what they are; or it returns an error: "Deployment: spec.replicas: must be a whole number,
// found a text".
#pragma once

#include "k8s-client/error.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sched::kubectl {

[[nodiscard]] k8s::Result<void> settle_class(nlohmann::json& object);
// `kind`: "Job", "Deployment" and so on; a JobSet has templates of its own.
[[nodiscard]] k8s::Result<void> settle_workload(nlohmann::json& object, const std::string& kind);

}  // namespace sched::kubectl
