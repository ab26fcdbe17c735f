#include "scheduler/answers/overview.h"

#include "scheduler/answers/quotas.h"

#include <map>
#include <utility>

namespace sched::answers {
namespace {

void add(Pieces& to, const GpuPieces& pieces, bool open) {
  to.total += pieces.total;
  to.used += pieces.used;
  to.held += pieces.held;
  if (open) to.free += pieces.free();
}

Pieces& sum_for(Overview& overview, GpuPieces::Kind kind) {
  switch (kind) {
    case GpuPieces::Kind::kInstance:
      return overview.instances;
    case GpuPieces::Kind::kReplica:
      return overview.replicas;
    case GpuPieces::Kind::kWhole:
      break;
  }
  return overview.gpus;
}

void add(TypeRow& row, const GpuNode& node, const GpuPieces& pieces) {
  const bool open = node.closed.empty();
  ++row.nodes;
  add(row.pieces, pieces, open);
  if (!open) return;
  if (pieces.free() > row.largest_block) {
    row.largest_block = pieces.free();
    row.largest_on = node.node;
  }
  if (pieces.total > 0 && pieces.used == 0 && pieces.held == 0) ++row.whole_nodes_free;
}

}  // namespace

Overview overview_of(const std::vector<GpuNode>& nodes, const std::vector<PodInLine>& line,
                     const std::vector<QuotaStatus>& quotas) {
  Overview overview;
  std::map<std::pair<std::string, std::string>, TypeRow> rows;
  for (const GpuNode& node : nodes) {
    std::int64_t all = 0;
    for (const GpuPieces& pieces : node.pieces) {
      all += pieces.total;
      add(sum_for(overview, pieces.kind), pieces, node.closed.empty());
      TypeRow& row = rows[{node.type, pieces.form()}];
      add(row, node, pieces);
    }
    if (!node.closed.empty()) {
      overview.closed.push_back(
          {.node = node.node, .why = node.closed, .pieces = all, .backed_off = node.backed_off});
    }
  }
  for (auto& [name, row] : rows) {
    row.type = name.first;
    row.form = name.second;
    overview.types.push_back(std::move(row));
  }
  for (const PodInLine& pod : line) {
    ++overview.waiting.pods;
    overview.waiting.gpus += pod.gpus;
    overview.waiting.instances += pod.instances;
    if (pod.place == PodInLine::Place::kGated) ++overview.waiting.gated;
    if (!pod.never.empty()) ++overview.waiting.never;
  }
  for (const QuotaStatus& quota : quotas) {
    if (has_warning(quota)) overview.warned_quotas.push_back(quota.name);
  }
  return overview;
}

}  // namespace sched::answers
