// An answer read back from its JSON (json.h), as another process wrote it.
#pragma once

#include "scheduler/answers/overview.h"
#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace sched::answers {

// Fields that are missing are empty, and those that are not known are passed over: a scheduler of
// another version may have written it. On error: what is wrong with it, for people.
[[nodiscard]] tl::expected<Overview, std::string> read_overview(std::string_view json);
[[nodiscard]] tl::expected<Why, std::string> read_why(std::string_view json);
[[nodiscard]] tl::expected<Queue, std::string> read_queue(std::string_view json);
[[nodiscard]] tl::expected<QuotasSeen, std::string> read_quotas(std::string_view json);

}  // namespace sched::answers
