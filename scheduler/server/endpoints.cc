#include "scheduler/server/endpoints.h"

#include "scheduler/server/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace sched::server {

namespace {

constexpr std::chrono::seconds kPageLife{1};

std::string line_of(const Check& check) {
  if (!check.passed) return fmt::format("[-]{} failed: {}\n", check.name, check.why_not);
  if (check.note.empty()) return fmt::format("[+]{} ok\n", check.name);
  return fmt::format("[+]{} ok, but {}\n", check.name, check.note);
}

// "ok" alone if every check passes without a note. Otherwise, or if `verbose`, every check, in the
// form of Kubernetes' own health pages.
Reply probe_reply(std::string_view page, const std::vector<Check>& checks, bool verbose) {
  const bool well =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
  const bool noted = std::any_of(checks.begin(), checks.end(),
                                 [](const Check& check) { return !check.note.empty(); });
  if (well && !noted && !verbose) return text_reply(200, "ok");
  std::string body;
  for (const Check& check : checks) body += line_of(check);
  if (well && verbose) return text_reply(200, fmt::format("{}{} check passed\n", body, page));
  if (well) return text_reply(200, body + "ok");
  return text_reply(503, fmt::format("{}{} check failed\n", body, page));
}

// The check of that name alone; empty: all of them.
Reply probe_reply(std::string_view page, std::vector<Check> checks, std::string_view name,
                  bool verbose) {
  if (name.empty()) return probe_reply(page, checks, verbose);
  std::erase_if(checks, [name](const Check& check) { return check.name != name; });
  if (checks.empty()) {
    return text_reply(404, fmt::format("no such check; /{}?verbose names them all\n", page));
  }
  return probe_reply(page, checks, verbose);
}

bool is_verbose(std::string_view query) {
  const auto parameters = parse_query(query);
  return parameters && parameters->contains("verbose");
}

// `what`: the first of what was wanted.
Reply refusal(const DelegatedAccess::Verdict& verdict, const std::string& what) {
  using Outcome = DelegatedAccess::Outcome;
  switch (verdict.outcome) {
    case Outcome::kUnknownToken:
      return text_reply(401, "the API server does not know this token\n");
    case Outcome::kForbidden: {
      const bool is_path = std::holds_alternative<k8s::NonResourceAccess>(*verdict.denied);
      return text_reply(403, fmt::format("\"{}\" cannot {}: a {} would let it\n", verdict.user,
                                         k8s::to_string(*verdict.denied),
                                         is_path ? "ClusterRole with that nonResourceURL"
                                                 : "Role with that right"));
    }
    case Outcome::kAllowed:
    case Outcome::kNotReviewed:
      break;
  }
  return text_reply(503, fmt::format("the API server cannot be asked now who may {}\n", what));
}

}  // namespace

Reply ProbeEndpoints::get(std::string_view path, std::string_view query) const {
  const std::size_t end = std::min(path.find('/', 1), path.size());
  const std::string_view page = path.substr(0, end);
  const std::string_view name = path.substr(std::min(end + 1, path.size()));
  const bool verbose = is_verbose(query);
  if (page == "/livez" || page == "/healthz") {
    return probe_reply(page.substr(1), liveness(), name, verbose);
  }
  if (page == "/readyz") return probe_reply("readyz", readiness(), name, verbose);
  return text_reply(404,
                    "not here; there are /healthz, /livez and /readyz, and over HTTPS at "
                    "--secure-port /metrics, /explain, /candidates and /debug/recording\n");
}

MetricsEndpoint::MetricsEndpoint(k8s::EventLoop& loop, std::function<std::string()> text)
    : loop_(loop), text_(std::move(text)) {}

Reply MetricsEndpoint::page() {
  const auto now = loop_.now();
  if (!page_ || now - page_made_ >= kPageLife) {
    page_ = std::make_shared<const std::string>(text_());
    page_made_ = now;
  }
  return {.body = page_, .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

void if_allowed(DelegatedAccess& access, const Request& request, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer, std::function<void(HttpServer::Answer)> allowed) {
  if_allowed(access, request, std::move(wanted), std::move(answer),
             [allowed = std::move(allowed)](HttpServer::Answer to, const std::string& /*user*/) {
               allowed(std::move(to));
             });
}

void if_allowed(DelegatedAccess& access, const Request& request, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer,
                std::function<void(HttpServer::Answer, const std::string& user)> allowed) {
  if (!request.bearer_token) {
    return answer(text_reply(401, wanted.empty()
                                      ? std::string("a bearer token is needed\n")
                                      : fmt::format("a bearer token is needed, of an account "
                                                    "that may {}\n",
                                                    k8s::to_string(wanted.front()))));
  }
  if_allowed(access, *request.bearer_token, std::move(wanted), std::move(answer),
             std::move(allowed));
}

void if_allowed(DelegatedAccess& access, std::string_view token, std::vector<k8s::Access> wanted,
                HttpServer::Answer answer,
                std::function<void(HttpServer::Answer, const std::string& user)> allowed) {
  const std::string what = wanted.empty() ? "ask" : k8s::to_string(wanted.front());
  access.ask(token, std::move(wanted),
             [what, answer = std::move(answer),
              allowed = std::move(allowed)](const DelegatedAccess::Verdict& verdict) {
               if (verdict.outcome == DelegatedAccess::Outcome::kAllowed) {
                 return allowed(answer, verdict.user);
               }
               answer(refusal(verdict, what));
             });
}

}  // namespace sched::server
