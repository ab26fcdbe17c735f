// KubeSchedulerConfiguration, read strictly into checked structs.
//
// The structure is kube-scheduler's (kubescheduler.config.k8s.io/v1). A field for a function that
// is not built is an error, unless it is switched off: every accepted setting takes effect.
//
// Decisions:
//   * percentageOfNodesToScore: every node is always looked at, so only 0 (upstream's "you choose")
//     and 100 are accepted. parallelism: decisions are made on one thread, so only 1.
//   * clientConnection.contentType, acceptContentTypes: which objects are sent in protobuf and
//     which in JSON cannot be chosen (k8s-client/client.h), so only upstream's values for that are
//     accepted.
//   * gpuQuota and gpuLabels are sections that upstream does not have (gpu_quota.h, site_labels.h).
//   * A profile starts from the default profile (defaults.h) and states the differences.
//     disabled: [{name: "*"}] switches off all plugins except constraints without which pods would
//     be placed against their own requirements; those are switched off only by name, with a
//     warning.
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

// The client for requests to the API server: made by k8s::make_…_transport().
enum class TransportKind { kAsio, kCpprest };

struct ClientConnection {
  // Empty: not set here. The flag --kubeconfig has precedence; $KUBECONFIG, the pod's service
  // account and ~/.kube/config come after it.
  std::string kubeconfig;
  TransportKind transport = TransportKind::kAsio;  // upstream does not have this field
  double qps = 5'000;                              // client-side limit of requests per second
  int burst = 10'000;
};

struct Configuration {
  ClientConnection client_connection;
  EngineOptions engine;
  std::vector<Profile> profiles;  // at least one; different scheduler names
  LeaderElection leader_election;
  // Settings that are accepted but worth a line in the log, with file, line and key path.
  std::vector<std::string> warnings;
};

// The configuration in `file`; on error the message is "FILE:LINE: KEY.PATH: what is wrong, and
// what would be right".
[[nodiscard]] k8s::Result<Configuration> load(const std::string& file, const Registry& registry);

// The same from text; `file` is only for messages. Empty text is the default configuration.
[[nodiscard]] k8s::Result<Configuration> parse(std::string_view text, const std::string& file,
                                               const Registry& registry);

}  // namespace sched::config
