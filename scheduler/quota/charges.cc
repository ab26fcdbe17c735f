#include "scheduler/quota/charges.h"

namespace sched::quota {
namespace {

const std::vector<Charge*> kNoCharges;

}  // namespace

void Charges::add(Charge& charge) {
  if (charge.node_ >= on_node_.size()) on_node_.resize(charge.node_ + std::size_t{1});
  auto& neighbours = in_namespace_[charge.pod_.namespace_];
  charge.in_namespace_ = neighbours.size();
  neighbours.push_back(&charge);
  auto& on_node = on_node_[charge.node_];
  charge.on_node_ = on_node.size();
  on_node.push_back(&charge);
}

void Charges::remove(Charge& charge) {
  const auto found = in_namespace_.find(charge.pod_.namespace_);
  auto& neighbours = found->second;
  neighbours.back()->in_namespace_ = charge.in_namespace_;
  neighbours[charge.in_namespace_] = neighbours.back();
  neighbours.pop_back();
  if (neighbours.empty()) in_namespace_.erase(found);
  auto& on_node = on_node_[charge.node_];
  on_node.back()->on_node_ = charge.on_node_;
  on_node[charge.on_node_] = on_node.back();
  on_node.pop_back();
}

const std::vector<Charge*>& Charges::in_namespace(const std::string& namespace_) const {
  const auto found = in_namespace_.find(namespace_);
  return found == in_namespace_.end() ? kNoCharges : found->second;
}

const std::vector<Charge*>& Charges::on_node(NodeSlot node) const {
  return node < on_node_.size() ? on_node_[node] : kNoCharges;
}

}  // namespace sched::quota
