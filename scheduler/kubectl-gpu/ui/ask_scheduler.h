// What the scheduler that runs answers: for callers who may not list what the answer is computed
// from (live/tenants/tenant_answers.h).
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"
#include "scheduler/kubectl-gpu/options.h"

#include <string>

namespace sched::kubectl {

// Asks the scheduler that leads, with the caller's credentials, what the command of `options` asks:
// about the pod of that name (`why`), or about the namespace of the options, else of the context
// (`queue`, `quota`). Returns the answer's JSON. On error: what to do is in the message.
[[nodiscard]] k8s::Result<std::string> ask_scheduler(const Options& options,
                                                     const std::string& pod);

// "/answers/why?namespace=ml&pod=train-0", "/answers/queue?namespace=ml".
[[nodiscard]] std::string answer_target(Command command, const std::string& namespace_,
                                        const std::string& pod);

}  // namespace sched::kubectl
