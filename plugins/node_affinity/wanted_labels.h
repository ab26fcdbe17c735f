// What NodeAffinity says of a whole cluster: which labels that a pod requires no node has, and the
// ones that are most like them.
#pragma once

#include "plugins/node_affinity/required_nodes.h"
#include "scheduler/framework/plugin.h"

#include <memory>

namespace plugins {

// nullptr: no label is required. Looks for the first four. Of a required node affinity with several
// terms, of which one is enough, nothing is said.
[[nodiscard]] std::unique_ptr<sched::Survey> survey_wanted_labels(const RequiredNodes& required);

}  // namespace plugins
