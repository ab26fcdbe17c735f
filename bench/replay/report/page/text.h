// Text of the page: escaped, and figures in a readable form.
//
// Names in a trace can be any text: everything that did not come from this program is escaped by
// escape() before it gets into the page, in elements and in attributes.
#pragma once

#include "bench/replay/report/comparison.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace bench::replay::page {

// HTML's special characters as entities; control characters, which HTML forbids, as U+FFFD.
[[nodiscard]] std::string escape(std::string_view text);

// Valid inside <script type="application/json">: JSON without "<".
[[nodiscard]] std::string json_for_script(std::string json);

// "4.61"; "−0.30" with a real minus sign; never "−0.00".
[[nodiscard]] std::string number(double value, int decimals);

// "8,152".
[[nodiscard]] std::string count(std::size_t value);

// "4.61 ± 0.08"; without the deviation if there was only one run.
[[nodiscard]] std::string spread(const Spread& value, int decimals);

// "850 ms", "12 s", "3.5 min", "2 h", "1.5 d".
[[nodiscard]] std::string duration(double seconds);

}  // namespace bench::replay::page
