// Times in Kubernetes' notation: metav1.Time ("2026-01-02T03:04:05Z") and MicroTime (with six
// digits after the second). Source: RFC 3339, read as by Go's time.Parse.
#pragma once

#include "k8s-client/api/meta.h"

#include <optional>
#include <string>
#include <string_view>

namespace k8s::json {

// Any offset and any number of fraction digits (those beyond microseconds are cut off); nothing if
// `text` is not such a time.
[[nodiscard]] std::optional<Timestamp> parse_rfc3339(std::string_view text);

// In UTC; with a fraction of six digits unless it is a whole second. Years outside 0 … 9999 cannot
// be written and are limited to these.
[[nodiscard]] std::string format_rfc3339(Timestamp time);

// The same in whole seconds: the fraction is cut off.
[[nodiscard]] std::string format_seconds(Timestamp time);

// metav1.MicroTime: always with six digits after the second; the API server requires them.
[[nodiscard]] std::string format_micro_time(Timestamp time);

}  // namespace k8s::json
