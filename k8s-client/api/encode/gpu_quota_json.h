// A GpuQuota's parts as nlohmann values, for encode() and for patches of its status.
#pragma once

#include "k8s-client/api/encode/common_json.h"
#include "k8s-client/api/gpu_quota.h"

namespace k8s::json {

[[nodiscard]] Json to_json(const GpuQuota::Spec& spec);
[[nodiscard]] Json to_json(const GpuQuota::Status& status);

}  // namespace k8s::json
