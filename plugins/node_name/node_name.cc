// NodeName: a pod with spec.nodeName fits only on that node. Without arguments.
#include "plugins/factories.h"
#include "plugins/support/one_reason.h"

namespace plugins {

namespace {

using namespace sched;

class NameCheck final : public OneReasonFilter {
 public:
  explicit NameCheck(std::string wanted)
      : OneReasonFilter("node(s) didn't match the requested node name"),
        wanted_(std::move(wanted)) {}

  Verdict check(const NodeView& node) const override {
    return node.facts.name == wanted_ ? Verdict::ok() : Verdict::unresolvable(kTheReason);
  }
  bool reads_usage() const override { return false; }

 private:
  std::string wanted_;
};

class NodeName final : public FilterPlugin {
 public:
  std::string_view name() const override { return "NodeName"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext&) const override {
    FilterPreparation preparation;
    if (!shape.node_name.empty()) preparation.filter = std::make_unique<NameCheck>(shape.node_name);
    return preparation;
  }
};

}  // namespace

PluginInstance make_node_name(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<NodeName>()};
}

}  // namespace plugins
