// KubeSchedulerConfiguration, read strictly into checked structs.
//
// The shape is kube-scheduler's (kubescheduler.config.k8s.io/v1). What it has and we have not built
// is an error that says so, unless it is switched off: nothing that is accepted is without effect.
//
// Where a choice had to be made:
//  * percentageOfNodesToScore: every node is always looked at, so only 0 (upstream's "you choose")
//    and 100 are accepted. parallelism: decisions are made on one thread, so only 1.
//  * clientConnection.contentType, acceptContentTypes: what travels in protobuf and what in JSON is
//    not a choice (k8s-client/client.h), so only upstream's words for that are accepted.
//  * gpuQuota and gpuLabels are sections of our own (gpu_quota.h, site_labels.h), beside
//  upstream's.
//  * A profile starts from the default profile (defaults.h) and says what differs.
//    disabled: [{name: "*"}] switches off all plugins but the constraints that keep pods from being
//    placed by ignoring what they ask for; those go only by name, with a warning.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/config/leader_election.h"
#include "scheduler/engine/engine.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/registry.h"

#include <string>
#include <string_view>
#include <vector>

namespace sched::config {

// What carries requests to the API server: the clients k8s::make_…_transport() make.
enum class TransportKind { kAsio, kCpprest };

struct ClientConnection {
  // Empty: nothing is said here. The flag --kubeconfig goes before it, $KUBECONFIG, the pod's
  // service account and ~/.kube/config come after it.
  std::string kubeconfig;
  TransportKind transport = TransportKind::kAsio;  // not one of upstream's fields
  double qps = 5'000;                              // client-side limit of requests per second
  int burst = 10'000;
};

struct Configuration {
  ClientConnection client_connection;
  EngineOptions engine;
  std::vector<Profile> profiles;  // at least one; different scheduler names
  LeaderElection leader_election;
  // What is accepted but worth a line in the log, with file, line and key path.
  std::vector<std::string> warnings;
};

// The configuration in `file`; on error the message is "FILE:LINE: KEY.PATH: what is wrong, and
// what would be right".
[[nodiscard]] k8s::Result<Configuration> load(const std::string& file, const Registry& registry);

// The same from text, `file` only serving the messages. Empty text is the default configuration.
[[nodiscard]] k8s::Result<Configuration> parse(std::string_view text, const std::string& file,
                                               const Registry& registry);

}  // namespace sched::config
