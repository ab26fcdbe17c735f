// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sched::kubectl {

enum class Command { kOverview, kWhy, kNodes, kQueue, kQuota, kPlan, kUi };
enum class Output { kTable, kWide, kJson };

// The Roles in the scheduler's namespace that let one ask the leader (manifests/base).
inline constexpr const char* kUiRole = "gpu-scheduler-ui";
inline constexpr const char* kAnswersRole = "gpu-scheduler-answers";

// By which Lease the leader is found, and on which port its pod answers.
struct LeaderAddress {
  std::string namespace_ = "gpu-scheduler";  // of its pods
  std::string lease = "gpu-scheduler";
  std::string lease_namespace;  // empty: that of its pods
  std::uint16_t port = 10259;   // --secure-port
  std::string role = kUiRole;   // named in the message if access is forbidden
  [[nodiscard]] const std::string& where_lease_is() const {
    return lease_namespace.empty() ? namespace_ : lease_namespace;
  }
};

// For all commands but `nodes` and `plan`: where the scheduler is, and the credentials for it.
struct SchedulerOptions {
  LeaderAddress leader;
  std::string server;  // a URL, in place of the leader's pod
  std::string server_ca;
  bool insecure_skip_verify = false;
  std::string token_file;
};

struct Options {
  Command command = Command::kOverview;
  // The cluster: files, or kubeconfig and context.
  std::vector<std::string> from;
  std::string kubeconfig;
  std::string context;
  std::string user_agent;  // "kubectl-gpu/0.1.0": of this program
  std::string config;      // the scheduler's; empty: the default one
  std::string namespace_;  // empty: not given
  bool all_namespaces = false;
  Output output = Output::kTable;
  bool watch = false;
  bool ask = false;  // the overview and `why`: the scheduler is asked first
  std::string pod;   // `why`: its name, once the command line is read
  // For `plan`: the changes.
  std::vector<std::string> manifests;
  std::vector<std::string> added_nodes;  // "H100x8=2"
  std::vector<std::string> drained_nodes;
  SchedulerOptions scheduler;
  std::uint16_t ui_port = 0;  // `ui`: on this machine; 0: any that is free
};

}  // namespace sched::kubectl
