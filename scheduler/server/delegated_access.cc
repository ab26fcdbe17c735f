#include "scheduler/server/delegated_access.h"

#include <openssl/sha.h>

namespace sched::server {

namespace {

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace

DelegatedAccess::DelegatedAccess(k8s::EventLoop& loop, Calls calls, Limits limits, Hooks hooks)
    : loop_(loop), calls_(std::move(calls)), limits_(limits), hooks_(std::move(hooks)) {}

void DelegatedAccess::ask(std::string_view token, std::function<void(const Verdict&)> done) {
  forget_old();
  const Digest digest = sha256(token);
  if (const auto known = known_.find(digest); known != known_.end()) {
    return done(known->second.verdict);
  }
  if (const auto open = open_.find(digest); open != open_.end()) {
    open->second.push_back(std::move(done));
    return;
  }
  if (open_.size() >= limits_.open) return done({});
  open_[digest].push_back(std::move(done));
  calls_.review_token(std::string(token), [this, digest](k8s::Result<k8s::TokenStatus> status) {
    on_token(digest, std::move(status));
  });
}

void DelegatedAccess::on_token(const Digest& digest, k8s::Result<k8s::TokenStatus> status) {
  if (!status) return fail(digest, status.error());
  hooks_.on_progress();
  if (!status->authenticated) return remember(digest, {.outcome = Outcome::kUnknownToken});
  calls_.review_access(status->user,
                       [this, digest, user = status->user.username](k8s::Result<bool> allowed) {
                         on_access(digest, user, std::move(allowed));
                       });
}

void DelegatedAccess::on_access(const Digest& digest, const std::string& user,
                                k8s::Result<bool> allowed) {
  if (!allowed) return fail(digest, allowed.error());
  hooks_.on_progress();
  remember(digest, {.outcome = *allowed ? Outcome::kAllowed : Outcome::kForbidden, .user = user});
}

void DelegatedAccess::remember(const Digest& digest, Verdict verdict) {
  known_[digest] = {.verdict = verdict, .until = loop_.now() + limits_.good_for};
  order_.push_back(digest);
  if (order_.size() > limits_.remembered) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  finish(digest, verdict);
}

void DelegatedAccess::fail(const Digest& digest, const k8s::Error& error) {
  hooks_.on_problem(error);
  finish(digest, {});
}

void DelegatedAccess::finish(const Digest& digest, const Verdict& verdict) {
  const auto waiting = open_.extract(digest);
  for (const auto& done : waiting.mapped()) done(verdict);
}

void DelegatedAccess::forget_old() {
  while (!order_.empty() && known_.at(order_.front()).until <= loop_.now()) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace sched::server
