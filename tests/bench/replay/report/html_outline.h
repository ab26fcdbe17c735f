// Checks a page's tags, as far as a page that a program wrote needs it.
#pragma once

#include <string>
#include <string_view>

namespace bench::replay {

// What is wrong with the page: a tag that is not closed, or closes another one; empty if nothing.
// Knows void elements, SVG's self-closing ones and the raw text of script and style.
[[nodiscard]] std::string tag_fault(std::string_view page);

}  // namespace bench::replay
