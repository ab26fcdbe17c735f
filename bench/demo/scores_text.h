// A bind's scores as one text: "1163 = GpuPacking 100·10 + NodeAffinity 0·20 + …".
#pragma once

#include "scheduler/engine/decision.h"

#include <string>

namespace bench {

// Plugins that gave 0 are left out.
[[nodiscard]] std::string scores_text(const sched::decision::Bind& bind);

}  // namespace bench
