// Answers as JSON, one object each, for programs. Fields may be added; their meaning never changes.
#pragma once

#include "scheduler/answers/overview.h"
#include "scheduler/answers/plan.h"
#include "scheduler/answers/pod_names.h"
#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"

#include <string>
#include <vector>

namespace sched::answers {

[[nodiscard]] std::string to_json(const Overview& overview);
[[nodiscard]] std::string to_json(const std::vector<GpuNode>& nodes, const PodNames& names);
[[nodiscard]] std::string to_json(const Queue& queue);
// Without loans: they name bound pods, and the engine stores no names of those.
[[nodiscard]] std::string to_json(const std::vector<QuotaStatus>& quotas);
[[nodiscard]] std::string to_json(const AllQuotas& quotas);
// With "namespace", "without", "line" and "withheld" besides.
[[nodiscard]] std::string to_json(const QuotasSeen& quotas);
[[nodiscard]] std::string to_json(const Why& why);
[[nodiscard]] std::string to_json(const Plan& plan);

}  // namespace sched::answers
