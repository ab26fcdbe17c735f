// The command line.
#pragma once

#include <string>
#include <vector>

namespace sched::kubectl {

enum class Command { kOverview, kWhy, kNodes, kQueue, kQuota, kPlan };
enum class Output { kTable, kWide, kJson };

struct Options {
  Command command = Command::kOverview;
  // The cluster: files, or kubeconfig and context.
  std::vector<std::string> from;
  std::string kubeconfig;
  std::string context;
  std::string config;      // the scheduler's; empty: the default one
  std::string namespace_;  // empty: not given
  bool all_namespaces = false;
  Output output = Output::kTable;
  bool watch = false;
  std::string pod;  // `why`: "NAME" or "pod/NAME"
  // For `plan`: the changes.
  std::vector<std::string> manifests;
  std::vector<std::string> added_nodes;  // "H100x8=2"
  std::vector<std::string> drained_nodes;
};

}  // namespace sched::kubectl
