// Asks plugins about one node, through the framework's contract alone.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/registry.h"
#include "tests/support/builders.h"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

// A verdict in words; reasons in the filter's own order.
struct Answer {
  sched::Code code = sched::Code::kOk;
  std::vector<std::string> reasons;
  friend bool operator==(const Answer&, const Answer&) = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& answer);

inline const Answer kFits = {};
[[nodiscard]] inline Answer unschedulable(std::vector<std::string> reasons) {
  return {sched::Code::kUnschedulable, std::move(reasons)};
}
[[nodiscard]] inline Answer unresolvable(std::vector<std::string> reasons) {
  return {sched::Code::kUnresolvable, std::move(reasons)};
}

// A node with the pods that are on it.
class OneNode {
 public:
  explicit OneNode(const k8s::Node& node, const std::vector<k8s::Pod>& pods = {});

  // What the plugin says of the pod on this node: also by narrowing and by rejecting it as a whole.
  [[nodiscard]] Answer ask(const sched::FilterPlugin& plugin, const k8s::Pod& pod);
  // The numbers behind each reason, in the same order.
  [[nodiscard]] std::vector<std::string> numbers(const sched::FilterPlugin& plugin,
                                                 const k8s::Pod& pod);
  // The raw score; -1 when the plugin has nothing to say about the pod.
  [[nodiscard]] std::int64_t score(const sched::ScorePlugin& plugin, const k8s::Pod& pod);

 private:
  sched::ResourceNames names_;
  sched::NodeFacts facts_;
  sched::NodeUsage usage_;
};

// The plugin of that name, the scheduler's or one of bench/policies, made with `args` as YAML; an
// error when it complains.
[[nodiscard]] k8s::Result<sched::PluginInstance> make_plugin(std::string_view name,
                                                             std::string_view args = "");

}  // namespace tests
