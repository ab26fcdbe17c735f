// GpuType's statement about a whole cluster: which of the listed types no node has, and which
// exist.
#pragma once

#include "plugins/gpu_type/ask.h"
#include "scheduler/framework/plugin.h"

#include <memory>

namespace plugins {

// `ask` outlives it.
[[nodiscard]] std::unique_ptr<sched::Survey> make_gpu_type_survey(const GpuTypeAsk& ask);

}  // namespace plugins
