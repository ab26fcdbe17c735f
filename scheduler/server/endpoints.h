// The paths of kube-scheduler. For all clients: /livez and /healthz (ok: a restart would not help),
// and /readyz (ok: it knows the cluster; also a standby, which may not decide yet). For accounts
// that the API server allows to read it: /metrics.
#pragma once

#include "k8s-client/http/event_loop.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sched::server {

// One condition of a healthy scheduler.
struct Check {
  std::string name;
  bool passed = false;
  std::string why_not;
  std::string note = {};  // shown even if the check passes; may be empty
};

struct ProbeEndpoints {
  std::function<std::vector<Check>()> liveness;
  std::function<std::vector<Check>()> readiness;

  // "/readyz?verbose" names every check, also those that pass; "/readyz/NAME" looks at that one.
  [[nodiscard]] Reply get(std::string_view path, std::string_view query = {}) const;
};

// The page of /metrics. On its loop's thread.
class MetricsEndpoint {
 public:
  // `text`: Prometheus' text format. It is asked for once a second at most, however many read it;
  // readers in between get the same page. `loop` must outlive this.
  MetricsEndpoint(k8s::EventLoop& loop, std::function<std::string()> text);

  [[nodiscard]] Reply page();

 private:
  k8s::EventLoop& loop_;
  std::function<std::string()> text_;
  std::shared_ptr<const std::string> page_;  // as of page_made_; nullptr: never made
  k8s::EventLoop::Clock::time_point page_made_{};
};

// Calls `allowed` with `answer` if the user of the request's token may do all of `wanted`;
// otherwise answers why not: 401, 403, or 503 where the API server cannot be asked.
void if_allowed(DelegatedAccess& access, const Request& request, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer, std::function<void(HttpServer::Answer)> allowed);
// The same where `allowed` needs the user whose token it is; nothing wanted: every user may.
void if_allowed(DelegatedAccess& access, const Request& request, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer,
                std::function<void(HttpServer::Answer, const std::string& user)> allowed);
// The same with the token of a request, copied from it.
void if_allowed(DelegatedAccess& access, std::string_view token, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer,
                std::function<void(HttpServer::Answer, const std::string& user)> allowed);

}  // namespace sched::server
