// Answers as text: the verdict first, then the numbers behind it, then what to do next.
#pragma once

#include "scheduler/answers/overview.h"
#include "scheduler/answers/plan.h"
#include "scheduler/answers/pod_names.h"
#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"
#include "scheduler/kubectl-gpu/table.h"

#include <vector>

namespace sched::kubectl {

void show(TextOut out, const answers::Overview& overview, const Style& style);
void show(TextOut out, const std::vector<GpuNode>& nodes, const answers::PodNames& names,
          const Style& style);
void show(TextOut out, const answers::Queue& queue, const Style& style);
// With style.wide also their use by namespace, and what is borrowed, by pod.
void show(TextOut out, const answers::AllQuotas& quotas, const Style& style);
// Of one namespace; with style.wide also what its pods borrow.
void show(TextOut out, const answers::QuotasSeen& quotas, const Style& style);
void show(TextOut out, const answers::Why& why, const Style& style);
void show(TextOut out, const answers::Plan& plan, const Style& style);

}  // namespace sched::kubectl
