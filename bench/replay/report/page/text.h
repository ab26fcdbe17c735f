// Text of the page: escaped, and figures in a readable form.
//
// Names in a trace can be any text: everything that did not come from this program is escaped by
// escape() before it gets into the page, in elements and in attributes.
#pragma once

#include "bench/replay/report/comparison.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace bench::replay::page {

// HTML's special characters as entities; control characters, which HTML forbids, as U+FFFD.
[[nodiscard]] std::string escape(std::string_view text);

// Valid inside <script type="application/json">: JSON without "<". Bytes that are not UTF-8 are
// replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

// "4.61"; "12,405"; "−0.30" with a real minus sign; never "−0.00".
[[nodiscard]] std::string number(double value, int decimals);

// "8,152".
[[nodiscard]] std::string count(std::size_t value);

// "4.61 ± 0.08"; without the deviation if there was only one run.
[[nodiscard]] std::string spread(const Spread& value, int decimals);

// "12 seconds", "3.5 minutes", "14 hours", "1.3 days": one unit, a decimal below ten; "under a
// second"; "0 seconds". plots.js has the same.
[[nodiscard]] std::string duration(double seconds);

// How long a computation took: "0.71 seconds", in an element of its own, because it is the one
// thing on the page that differs from run to run.
[[nodiscard]] std::string took(double seconds, int decimals);

}  // namespace bench::replay::page
