#include "scheduler/engine/report/fit_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sched {
namespace {

constexpr const char* kNoNodes = "no nodes available to schedule pods";

}  // namespace

std::string fit_error(std::size_t all_nodes, const PreparedShape& shape,
                      const VerdictCounts& verdicts, ReasonCounts further) {
  if (all_nodes == 0) return kNoNodes;
  if (shape.rejection()) return fit_error(all_nodes, shape.rejection()->reason);

  // By text: if two filters give the same reason, it is counted as one.
  ReasonCounts nodes_by_reason = std::move(further);
  verdicts.for_each([&](const NodeVerdict& verdict, std::size_t nodes) {
    for (const std::string& reason : shape.reasons_of(verdict)) nodes_by_reason[reason] += nodes;
  });
  return fit_error(all_nodes, nodes_by_reason);
}

std::string fit_error(std::size_t all_nodes, const ReasonCounts& reasons) {
  std::vector<std::string> counted;
  counted.reserve(reasons.size());
  for (const auto& [reason, nodes] : reasons) {
    counted.push_back(fmt::format("{} {}", nodes, reason));
  }
  std::sort(counted.begin(), counted.end());
  return fmt::format("0/{} nodes are available: {}.", all_nodes, fmt::join(counted, ", "));
}

std::string fit_error(std::size_t all_nodes, std::string_view rejection) {
  if (all_nodes == 0) return kNoNodes;
  return fmt::format("0/{} nodes are available: {}.", all_nodes, rejection);
}

std::vector<std::string> refusing_plugins(const PreparedShape& shape,
                                          const VerdictCounts& verdicts) {
  std::set<std::string> names(shape.narrowed_by().begin(), shape.narrowed_by().end());
  if (shape.rejection() && !shape.rejection()->plugin.empty()) {
    names.insert(shape.rejection()->plugin);
  }
  verdicts.for_each([&](const NodeVerdict& verdict, std::size_t /*nodes*/) {
    if (const std::string_view name = shape.plugin_of(verdict); !name.empty()) {
      names.emplace(name);
    }
  });
  return {names.begin(), names.end()};
}

}  // namespace sched
