// Answers of the running scheduler (live/tenants/tenant_answers.h): they need no lists, so they are
// quick, and callers who may not list can get them.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/kubectl-gpu/options.h"

#include <chrono>
#include <optional>
#include <string>

namespace sched::kubectl {

// Asks the scheduler that leads, with the caller's credentials, what the command of `options` asks:
// about the pod of the options (`why`), about the namespace of the options, else of the context
// (`queue`, `quota`), or about the cluster (the overview). Returns the answer's JSON. On error:
// what to do is in the message. `patience`: how long it waits for the answer; nullopt: as long as
// the API server does.
[[nodiscard]] k8s::Result<std::string> ask_scheduler(
    const Options& options, std::optional<std::chrono::milliseconds> patience = std::nullopt);

// "/answers/why?namespace=ml&pod=train-0", "/answers/queue?namespace=ml", "/answers/overview". The
// namespace may be empty for the overview alone.
[[nodiscard]] std::string answer_target(Command command, const std::string& namespace_,
                                        const std::string& pod);

}  // namespace sched::kubectl
