// KubeSchedulerConfiguration, read strictly into checked structs.
//
// The shape is kube-scheduler's (kubescheduler.config.k8s.io/v1). What it has and we have not built
// is an error that says so, unless it is switched off: nothing that is accepted is without effect.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/registry.h"

namespace sched::config {

struct ClientConnection {
  std::string kubeconfig;  // empty: --kubeconfig, or in-cluster
  double qps = 5'000;      // client-side limit of requests per second
  int burst = 10'000;
};

struct Configuration {
  ClientConnection client_connection;
  EngineOptions engine;
  std::vector<Profile> profiles;  // at least one; different scheduler names
};

// The configuration in `file`; on error the message is "FILE:LINE: KEY.PATH: what is wrong, and what
// would be right".
[[nodiscard]] k8s::Result<Configuration> load(const std::string& file, const Registry& registry);

// The same from text, `file` only serving the messages. Empty text is the default configuration.
[[nodiscard]] k8s::Result<Configuration> parse(std::string_view text, const std::string& file,
                                               const Registry& registry);

}  // namespace sched::config
