#include "scheduler/engine/report/ruled_out.h"

namespace sched {

void RuledOut::add(NodeSlot slot, std::size_t nodes) {
  ruling_.tell(slot, told_);
  if (!told_.empty()) nodes_[told_] += nodes;
}

ReasonCounts RuledOut::reasons() const {
  ReasonCounts reasons;
  for (const auto& [told, nodes] : nodes_) {
    for (const Ruling::Why* why : told) reasons[std::string(why->reason)] += nodes;
  }
  return reasons;
}

std::set<std::string> RuledOut::plugins() const {
  std::set<std::string> plugins;
  for (const auto& [told, nodes] : nodes_) plugins.emplace(told.front()->plugin);
  return plugins;
}

}  // namespace sched
