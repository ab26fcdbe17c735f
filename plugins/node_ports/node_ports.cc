// NodePorts: no two pods on one node with the same host port. Without arguments.
#include "plugins/factories.h"
#include "plugins/support/one_reason.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

class PortsCheck final : public OneReasonFilter {
 public:
  explicit PortsCheck(std::vector<HostPort> wanted)
      : OneReasonFilter("node(s) didn't have free ports for the requested pod ports"),
        wanted_(std::move(wanted)) {}

  Verdict check(const NodeView& node) const override {
    return taken(node) == nullptr ? Verdict::ok() : Verdict::unschedulable(kTheReason);
  }

  std::string numbers(const NodeView& node, unsigned) const override {
    const HostPort* port = taken(node);
    if (port == nullptr) return "";
    return "host port " + std::to_string(port->port) + "/" + port->protocol + " is taken";
  }

 private:
  // The first wanted port that is in use there.
  const HostPort* taken(const NodeView& node) const {
    for (const HostPort& port : wanted_) {
      const auto& used = node.usage.host_ports;
      const bool clashes = std::any_of(used.begin(), used.end(), [&](const HostPort& other) {
        return port.clashes_with(other);
      });
      if (clashes) return &port;
    }
    return nullptr;
  }

  std::vector<HostPort> wanted_;
};

class NodePorts final : public FilterPlugin {
 public:
  std::string_view name() const override { return "NodePorts"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext&) const override {
    FilterPreparation preparation;
    if (!shape.host_ports.empty())
      preparation.filter = std::make_unique<PortsCheck>(shape.host_ports);
    return preparation;
  }
};

}  // namespace

PluginInstance make_node_ports(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<NodePorts>()};
}

}  // namespace plugins
