// Counts GPUs by the names that device plugins give them, for answers. What counts against a quota
// is computed elsewhere (quota/charge_class.h).
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/cluster/nodes.h"
#include "scheduler/engine/answers.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/framework/profile.h"
#include "scheduler/gpu/resource_kind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// As GpuNode::type.
[[nodiscard]] std::string gpu_type(const NodeFacts& facts);

// Pieces under all names of GPUs. `requests` as in PodShape or Claim.
[[nodiscard]] std::int64_t gpu_pieces(const std::vector<ResourceAmount>& requests,
                                      const ResourceNames& names);

// Whether it offers GPUs, or its labels state that it has some.
[[nodiscard]] bool is_gpu_node(const NodeFacts& facts);

// Why no pod gets any of the node's GPUs now, free or not; nullopt: pods of one of the profiles can
// get them.
[[nodiscard]] std::optional<GpusClosed> closed_by(const NodeFacts& facts,
                                                  const std::vector<Profile>& profiles);

// As PodInLine::asks.
[[nodiscard]] std::string gpu_asks(const PodShape& shape, const ResourceNames& names);

// What the node offers, by resource name, also names with an amount of zero, and what its pods have
// of what it does not offer any more.
[[nodiscard]] std::vector<GpuPieces> pieces_of(const Nodes& nodes, NodeSlot slot,
                                               const ResourceNames& names);

}  // namespace sched
