// Durations as Kubernetes' configuration files and flags write them: "15s", "1m30s", "500ms".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace sched::config {

// Go's time.ParseDuration as far as it makes sense here: one or more decimal numbers, each with its
// unit (h, m, s, ms, us, ns), without sign; "0" alone needs none. Nothing if `text` is not such a
// duration or is longer than 290 years. A remainder below some nanoseconds is cut off.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace sched::config
