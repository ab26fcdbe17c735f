// NodeUnschedulable: no pods on cordoned nodes, except those that tolerate the taint
// node.kubernetes.io/unschedulable:NoSchedule. Without arguments.
#include "plugins/factories.h"
#include "plugins/support/one_reason.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

class UnschedulableCheck final : public OneReasonFilter {
 public:
  UnschedulableCheck() : OneReasonFilter("node(s) were unschedulable") {}

  Verdict check(const NodeView& node) const override {
    return node.facts.unschedulable ? Verdict::unresolvable(kTheReason) : Verdict::ok();
  }
  bool reads_usage() const override { return false; }
};

class NodeUnschedulable final : public FilterPlugin {
 public:
  std::string_view name() const override { return "NodeUnschedulable"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext&) const override {
    const k8s::Taint cordon{"node.kubernetes.io/unschedulable", "", k8s::TaintEffect::kNoSchedule};
    const bool tolerated =
        std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                    [&](const k8s::Toleration& each) { return each.tolerates(cordon); });
    FilterPreparation preparation;
    if (!tolerated) preparation.filter = std::make_unique<UnschedulableCheck>();
    return preparation;
  }
};

}  // namespace

PluginInstance make_node_unschedulable(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<NodeUnschedulable>()};
}

}  // namespace plugins
