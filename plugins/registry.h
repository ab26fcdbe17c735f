// The list of all built-in plugins.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

// In filter order.
[[nodiscard]] const sched::Registry& registry();

}  // namespace plugins
