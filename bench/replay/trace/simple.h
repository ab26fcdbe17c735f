// Reads this project's plain tables, made by a spreadsheet or a query of a monitoring system.
//
// nodes  name, cpu, memory, gpus; gpu_model, label:KEY, resource:NAME
// pods   name, cpu, memory, gpus; namespace, gpu_models, priority, created, deleted, resource:NAME
//
// Columns come in any order, those after the semicolon are optional. bench/replay/README.md
// ("Simple CSV") is the reference.
#pragma once

#include "bench/replay/trace/text_file.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <vector>

namespace bench::replay {

[[nodiscard]] k8s::Result<std::vector<k8s::Node>> read_simple_nodes(const TextFile& file);
[[nodiscard]] k8s::Result<std::vector<TracePod>> read_simple_pods(const TextFile& file);

}  // namespace bench::replay
