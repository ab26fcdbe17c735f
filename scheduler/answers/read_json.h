// An answer read back from its JSON (json.h), as another process wrote it.
#pragma once

#include "scheduler/answers/why.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace sched::answers {

// Fields that are missing are empty, and those that are not known are passed over: a scheduler of
// another version may have written it. On error: what is wrong with it, for people.
[[nodiscard]] tl::expected<Why, std::string> read_why(std::string_view json);

}  // namespace sched::answers
