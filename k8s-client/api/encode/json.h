// Parts of objects as nlohmann values, which patches write, too. Included only by .cc files.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/storage.h"

#include <nlohmann/json.hpp>

namespace k8s::json {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const ClaimReference& claim);
[[nodiscard]] Json to_json(const GpuQuota::Status& status);

}  // namespace k8s::json
