// Amounts in the usual notation: "3500m" of cpu, "62.5Gi", "8".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sched {

// An amount in the unit of `resource` (resources.h). Bytes are given in the largest binary unit of
// which there is at least one, with at most one decimal, rounded towards zero.
[[nodiscard]] std::string amount_text(std::string_view resource, std::int64_t amount);

}  // namespace sched
