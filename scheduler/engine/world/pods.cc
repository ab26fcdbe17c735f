#include "scheduler/engine/world/pods.h"

#include <utility>

namespace sched {

void PodRecord::assume(Nodes& nodes, NodeSlot node, Occupant occupant) {
  occupant.uid = uid_;
  placement_.emplace(nodes, node, std::move(occupant));
}

void PodRecord::bind(Nodes& nodes, NodeSlot node, Occupant occupant) {
  waiting_.reset();
  occupant.uid = uid_;
  if (placement_ && placement_->node() == node) {
    placement_->change(std::move(occupant));
  } else {
    placement_.emplace(nodes, node, std::move(occupant));
  }
}

void PodRecord::seen(const k8s::Pod& pod, PodClassRef pod_class) {
  Occupant now = occupant_of(pod, placement_->claim(), std::move(pod_class), true);
  now.uid = uid_;
  placement_->change(std::move(now));
}

void PodRecord::charge(quota::Ledger& ledger, const Charged& pod, quota::Demand demand) {
  const NodeSlot node = placement_->node();
  if (charge_ && charge_->node() == node && charge_->demand() == demand &&
      charge_->charged_as() == pod.charged_as && charge_->at() == pod.at) {
    return;
  }
  charge_.reset();
  if (demand.is_none()) return;
  charge_ = std::make_unique<quota::Charge>(
      ledger, quota::Charge::Pod{pod.uid, pod.namespace_, pod.charged_as, pod.at}, node,
      std::move(demand));
}

PodRecord& Pods::at(const std::string& uid) {
  const auto known = records_.try_emplace(uid).first;
  known->second.uid_ = &known->first;
  return known->second;
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
