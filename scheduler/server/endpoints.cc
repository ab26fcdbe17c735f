#include "scheduler/server/endpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sched::server {

namespace {

constexpr std::chrono::seconds kPageLife{1};

std::string line_of(const Check& check) {
  if (!check.passed) return fmt::format("[-]{} failed: {}\n", check.name, check.why_not);
  if (check.note.empty()) return fmt::format("[+]{} ok\n", check.name);
  return fmt::format("[+]{} ok, but {}\n", check.name, check.note);
}

// "ok" alone when all is well; otherwise every check, in the form of Kubernetes' own health pages.
Reply health_reply(std::string_view page, const std::vector<Check>& checks) {
  const bool well =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
  const bool noted = std::any_of(checks.begin(), checks.end(),
                                 [](const Check& check) { return !check.note.empty(); });
  if (well && !noted) return text_reply(200, "ok");
  std::string body;
  for (const Check& check : checks) body += line_of(check);
  if (well) return text_reply(200, body + "ok");
  return text_reply(503, fmt::format("{}{} check failed\n", body, page));
}

}  // namespace

Reply HealthEndpoints::get(std::string_view path) const {
  if (path == "/livez" || path == "/healthz") return health_reply(path.substr(1), liveness());
  if (path == "/readyz") return health_reply("readyz", readiness());
  return text_reply(404,
                    "not here; there are /healthz, /livez and /readyz, and /metrics over HTTPS at "
                    "--secure-port\n");
}

MetricsEndpoint::MetricsEndpoint(k8s::EventLoop& loop, DelegatedAccess& access,
                                 std::function<std::string()> text)
    : loop_(loop), access_(access), text_(std::move(text)) {}

void MetricsEndpoint::get(const Request& request, HttpServer::Answer answer) {
  if (request.path != "/metrics") return answer(text_reply(404, "not here; there is /metrics\n"));
  if (!request.bearer_token) {
    return answer(
        text_reply(401, "a bearer token is needed, of an account that may get /metrics\n"));
  }
  access_.ask(*request.bearer_token,
              [this, answer = std::move(answer)](const DelegatedAccess::Verdict& verdict) {
                answer(reply_to(verdict));
              });
}

Reply MetricsEndpoint::reply_to(const DelegatedAccess::Verdict& verdict) {
  using Outcome = DelegatedAccess::Outcome;
  switch (verdict.outcome) {
    case Outcome::kUnknownToken:
      return text_reply(401, "the API server does not know this token\n");
    case Outcome::kForbidden:
      return text_reply(403, fmt::format("\"{}\" cannot get \"/metrics\": a ClusterRole with that "
                                         "nonResourceURL would let it\n",
                                         verdict.user));
    case Outcome::kNotReviewed:
      return text_reply(503, "the API server cannot be asked now who may get /metrics\n");
    case Outcome::kAllowed:
      break;
  }
  const auto now = loop_.now();
  if (!page_ || now - page_made_ >= kPageLife) {
    page_ = std::make_shared<const std::string>(text_());
    page_made_ = now;
  }
  return {.body = page_, .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace sched::server
