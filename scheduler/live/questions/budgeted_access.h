// Which accounts may ask, and how often: the token's account, then its budget, then its rights.
//
// These are checked in this order. So refused requests use up the budget, too, and an account
// beyond its budget causes no reviews of rights: the answer is 429 with Retry-After.
#pragma once

#include "k8s-client/access_review.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/live/questions/budget.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <functional>
#include <string>
#include <vector>

namespace sched::live {

// On its loop's thread.
class BudgetedAccess {
 public:
  using Allowed = std::function<void(server::HttpServer::Answer, const std::string& user)>;

  // Both outlive it, and it outlives the answers of `access`.
  BudgetedAccess(k8s::EventLoop& loop, server::DelegatedAccess& access, Budget::Limits limits)
      : loop_(loop), access_(access), budget_(limits) {}

  // As server::if_allowed, within the budget.
  void if_allowed(const server::Request& request, std::vector<k8s::Access> wanted,
                  server::HttpServer::Answer answer, Allowed allowed);

  // Takes one question from the account's budget. False: the budget is used up, and the request was
  // answered with 429.
  bool take(const std::string& account, const server::HttpServer::Answer& answer);

 private:
  k8s::EventLoop& loop_;
  server::DelegatedAccess& access_;
  Budget budget_;
};

}  // namespace sched::live
