#include "scheduler/live/questions/budgeted_access.h"

#include "scheduler/server/endpoints.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace sched::live {

namespace {

server::Reply over_budget(Budget::Clock::duration wait, const Budget::Limits& limits) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  server::Reply reply = server::text_reply(
      429,
      fmt::format("an account may ask {} questions at once, then one every {} s; ask again in "
                  "{} s\n",
                  limits.at_once, std::chrono::duration<double>(limits.each).count(), seconds));
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

}  // namespace

bool BudgetedAccess::take(const std::string& account, const server::HttpServer::Answer& answer) {
  const auto wait = budget_.take(account, loop_.now());
  if (wait) answer(over_budget(*wait, budget_.limits()));
  return !wait;
}

void BudgetedAccess::if_allowed(const server::Request& request, std::vector<k8s::Access> wanted,
                                server::HttpServer::Answer answer, Allowed allowed) {
  if (!request.bearer_token) {  // of no account: the refusal names what is wanted
    return server::if_allowed(access_, request, std::move(wanted), std::move(answer),
                              std::move(allowed));
  }
  server::if_allowed(access_, request, {}, std::move(answer),
                     [this, token = std::string(*request.bearer_token), wanted = std::move(wanted),
                      allowed = std::move(allowed)](const server::HttpServer::Answer& known,
                                                    const std::string& user) {
                       if (take(user, known))
                         server::if_allowed(access_, token, wanted, known, allowed);
                     });
}

}  // namespace sched::live
