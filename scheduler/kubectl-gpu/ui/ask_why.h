// Why a pod waits, as the scheduler that runs says it: for callers who may not list what the answer
// is computed from (live/tenants/tenant_answers.h).
#pragma once

#include "k8s-client/error.h"
#include "scheduler/answers/why.h"
#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"

#include <string>

namespace sched::kubectl {

struct WhyAnswer {
  std::string json;  // as it came
  answers::Why why;
};

// Asks the scheduler that leads, with the caller's credentials, about the pod of that name in the
// namespace of the options, else in the context's. On error: what to do is in the message.
[[nodiscard]] k8s::Result<WhyAnswer> ask_scheduler_why(const Options& options,
                                                       const std::string& pod);

// What the scheduler's response says.
[[nodiscard]] k8s::Result<WhyAnswer> why_answer_of(const k8s::Result<k8s::Response>& response);

// "/answers/why?namespace=ml&pod=train-0".
[[nodiscard]] std::string why_target(const std::string& namespace_, const std::string& pod);

}  // namespace sched::kubectl
