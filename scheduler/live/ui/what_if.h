// Reads the pod of a what-if question: a pod that need not exist, as the API server would store it.
//
//   namespace=NS&gpus=N[&type=T][&tolerates=KEY]   a pod of one container that asks for N GPUs, of
//                                    that type, and tolerates taints of that key
//   namespace=NS&manifest=TEXT       a Pod in YAML or JSON
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/server/query.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace sched::live {

struct WhatIf {
  k8s::Pod pod;  // of a scheduler that is served, on no node, with no uid that is known
  std::vector<std::string> notes;  // sentences about what was read differently from the request
};

// `served`: scheduler names; the first is taken where none is named. On error: what is wrong, for
// the person who asked.
[[nodiscard]] tl::expected<WhatIf, std::string> read_what_if(
    const server::Query& query, const std::vector<std::string>& served);

}  // namespace sched::live
