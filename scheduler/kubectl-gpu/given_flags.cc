#include "scheduler/kubectl-gpu/given_flags.h"

#include <string_view>

namespace sched::kubectl {
namespace {

// As a shell reads it: 'my pods.json'
std::string quoted(const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,";
  if (value.find_first_not_of(kPlain) == std::string::npos) return value;
  std::string text;
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return '\'' + text + '\'';
}

// " --from pods.json"; empty: it has the value that holds without it.
std::string flag(const std::string& name, const std::string& value,
                 const std::string& default_value = {}) {
  return value == default_value ? std::string() : ' ' + name + ' ' + quoted(value);
}

}  // namespace

std::string kubectl_flags(const Options& options) {
  if (!options.from.empty()) return {};
  return flag("--kubeconfig", options.kubeconfig) + flag("--context", options.context);
}

std::string cluster_flags(const Options& options) {
  std::string flags;
  for (const std::string& file : options.from) flags += flag("--from", file);
  return flags + kubectl_flags(options) + flag("--config", options.config);
}

std::string namespace_flag(const Options& options) {
  return options.all_namespaces ? std::string() : flag("-n", options.namespace_);
}

std::string scheduler_flags(const SchedulerOptions& options) {
  const LeaderAddress& leader = options.leader;
  const LeaderAddress without_flags;
  return flag("--token-file", options.token_file) +
         flag("--scheduler-namespace", leader.namespace_, without_flags.namespace_) +
         flag("--lease", leader.lease, without_flags.lease) +
         flag("--lease-namespace", leader.lease_namespace) +
         flag("--secure-port", std::to_string(leader.port), std::to_string(without_flags.port)) +
         flag("--server", options.server) + flag("--server-ca", options.server_ca) +
         (options.insecure_skip_verify ? " --insecure-skip-tls-verify" : "");
}

std::string lease_of(const LeaderAddress& leader) {
  return quoted(leader.lease) + " -n " + quoted(leader.where_lease_is());
}

}  // namespace sched::kubectl
