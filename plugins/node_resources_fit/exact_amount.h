// Amounts of resources as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plugins {

// Kubernetes' notation for quantities, exact: cpu 1500 → "1500m", memory 2^30 → "1Gi", others
// plain.
[[nodiscard]] std::string exact_amount(std::string_view resource, std::int64_t amount);

}  // namespace plugins
