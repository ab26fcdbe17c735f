// The part of a URL behind its "?": parameters, as forms and `curl --data-urlencode` write them.
//
// Strict, since a parameter that is misread gives the answer to another question: each name once,
// and every "%" with two hexadecimal digits behind it. The caller checks the names and values. The
// limit of a header's size bounds all of it (session.cc).
#pragma once

#include <tl/expected.hpp>

#include <map>
#include <string>
#include <string_view>

namespace sched::server {

// By name; both decoded: "+" is a space, "%2B" a plus. A name without "=" has an empty value.
using Query = std::map<std::string, std::string, std::less<>>;

// On error: what is wrong, for the client.
[[nodiscard]] tl::expected<Query, std::string> parse_query(std::string_view query);

}  // namespace sched::server
