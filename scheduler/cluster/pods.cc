#include "scheduler/cluster/pods.h"

namespace sched {

void PodRecord::bind(Nodes& nodes, NodeSlot node, Claim claim) {
  waiting_.reset();
  if (placement_ && placement_->node() == node) {
    placement_->resize(std::move(claim));
  } else {
    placement_.emplace(nodes, node, std::move(claim));
  }
}

PodRecord* Pods::find(const std::string& uid) {
  const auto found = records_.find(uid);
  return found == records_.end() ? nullptr : &found->second;
}

const PodRecord* Pods::find(const std::string& uid) const {
  const auto found = records_.find(uid);
  return found == records_.end() ? nullptr : &found->second;
}

}  // namespace sched
