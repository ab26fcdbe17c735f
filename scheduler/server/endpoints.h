// The paths that are served, as kube-scheduler has them: /livez and /healthz (a restart would not
// help), /readyz (it knows the cluster; a standby, too, which may not decide yet), /metrics.
#pragma once

#include "scheduler/server/http_server.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::server {

// One thing that must be so before the scheduler is well.
struct Check {
  std::string name;
  bool passed = false;
  std::string why_not;
};

struct Endpoints {
  std::function<std::vector<Check>()> liveness;
  std::function<std::vector<Check>()> readiness;
  std::function<std::string()> metrics;  // Prometheus' text format

  [[nodiscard]] Reply get(std::string_view path) const;
};

}  // namespace sched::server
