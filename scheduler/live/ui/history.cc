#include "scheduler/live/ui/history.h"

namespace sched::live {

void History::add(const answers::Overview& overview, Time at) {
  if (!samples_.empty() && at <= samples_.back().at) return;
  samples_.push_back({.at = at,
                      .gpus = overview.gpus,
                      .instances = overview.instances,
                      .replicas = overview.replicas,
                      .waiting_pods = static_cast<std::int64_t>(overview.waiting.pods),
                      .waiting_gpus = overview.waiting.gpus});
  if (samples_.size() > kMost) samples_.pop_front();
}

}  // namespace sched::live
