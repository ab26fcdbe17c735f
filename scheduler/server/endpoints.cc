#include "scheduler/server/endpoints.h"

#include <fmt/format.h>

#include <algorithm>

namespace sched::server {

namespace {

// "ok" alone when all is well; otherwise every check, in the form of Kubernetes' own health pages.
Reply health_reply(std::string_view page, const std::vector<Check>& checks) {
  const bool well =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
  if (well) return {200, "ok"};
  std::string body;
  for (const Check& check : checks) {
    body += check.passed ? fmt::format("[+]{} ok\n", check.name)
                         : fmt::format("[-]{} failed: {}\n", check.name, check.why_not);
  }
  return {503, fmt::format("{}{} check failed\n", body, page)};
}

}  // namespace

Reply Endpoints::get(std::string_view path) const {
  if (path == "/livez" || path == "/healthz") return health_reply(path.substr(1), liveness());
  if (path == "/readyz") return health_reply("readyz", readiness());
  if (path == "/metrics") return {200, metrics(), "text/plain; version=0.0.4; charset=utf-8"};
  return {404, "not here; there are /healthz, /livez, /readyz and /metrics\n"};
}

}  // namespace sched::server
