#include "scheduler/server/endpoints.h"

#include <fmt/format.h>

#include <algorithm>

namespace sched::server {

namespace {

// "ok" alone when all is well; otherwise every check, in the form of Kubernetes' own health pages.
Reply readiness_reply(const std::vector<Check>& checks) {
  const bool ready =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
  if (ready) return {200, "ok"};
  std::string body;
  for (const Check& check : checks) {
    body += check.passed ? fmt::format("[+]{} ok\n", check.name)
                         : fmt::format("[-]{} failed: {}\n", check.name, check.why_not);
  }
  return {503, body + "readyz check failed\n"};
}

}  // namespace

Reply Endpoints::get(std::string_view path) const {
  if (path == "/livez" || path == "/healthz") return {200, "ok"};
  if (path == "/readyz") return readiness_reply(readiness());
  if (path == "/metrics") return {200, metrics(), "text/plain; version=0.0.4; charset=utf-8"};
  return {404, "not here; there are /healthz, /livez, /readyz and /metrics\n"};
}

}  // namespace sched::server
