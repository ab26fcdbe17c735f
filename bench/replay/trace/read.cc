#include "bench/replay/trace/read.h"

#include "bench/replay/trace/counts.h"
#include "bench/replay/trace/gpu_amounts.h"
#include "bench/replay/trace/openb.h"
#include "bench/replay/trace/text_file.h"

#include <algorithm>
#include <utility>

namespace bench::replay {

k8s::Result<Trace> read_trace(const TraceFiles& files) {
  auto nodes_file = read_text_file(files.nodes);
  if (!nodes_file) return tl::unexpected(nodes_file.error());
  auto pods_file = read_text_file(files.pods);
  if (!pods_file) return tl::unexpected(pods_file.error());
  auto nodes = read_openb_nodes(*nodes_file);
  if (!nodes) return tl::unexpected(nodes.error());
  auto pods = read_openb_pods(*pods_file);
  if (!pods) return tl::unexpected(pods.error());
  Trace trace;
  trace.name = stem_of(files.pods);
  trace.nodes = std::move(*nodes);
  trace.pods = std::move(*pods);
  const auto demands = demands_of(trace.pods);
  trace.devices_apart = std::any_of(demands.begin(), demands.end(),
                                    [](const auto& demand) { return demand.is_share(); });
  count(trace);
  return trace;
}

}  // namespace bench::replay
