// NodeAffinity's statement about a whole cluster: which of the labels that a pod requires are on no
// node, and which existing labels are most like them.
#pragma once

#include "plugins/node_affinity/required_nodes.h"
#include "scheduler/framework/plugin.h"

#include <memory>

namespace plugins {

// nullptr: no label is required. Looks for the first four labels. A required node affinity with
// several terms is left out, because one of its terms is enough.
[[nodiscard]] std::unique_ptr<sched::Survey> survey_wanted_labels(const RequiredNodes& required);

}  // namespace plugins
