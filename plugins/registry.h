// The one list of the plugins that are built in.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

// In filter order.
[[nodiscard]] const sched::Registry& registry();

}  // namespace plugins
