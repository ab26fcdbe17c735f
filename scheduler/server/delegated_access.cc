#include "scheduler/server/delegated_access.h"

#include <openssl/sha.h>

namespace sched::server {

namespace {

// Neither a token nor the text of what is wanted contains a zero byte.
std::string joined(std::string_view token, const std::vector<k8s::Access>& wanted) {
  std::string text(token);
  for (const k8s::Access& access : wanted) text += '\0' + k8s::to_string(access);
  return text;
}

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace

DelegatedAccess::DelegatedAccess(k8s::EventLoop& loop, Calls calls, Limits limits, Hooks hooks)
    : loop_(loop), calls_(std::move(calls)), limits_(limits), hooks_(std::move(hooks)) {}

void DelegatedAccess::ask(std::string_view token, std::vector<k8s::Access> wanted,
                          std::function<void(const Verdict&)> done) {
  forget_old();
  const Digest digest = sha256(joined(token, wanted));
  if (const auto known = known_.find(digest); known != known_.end()) {
    return done(known->second.verdict);
  }
  if (const auto open = open_.find(digest); open != open_.end()) {
    open->second.waiting.push_back(std::move(done));
    return;
  }
  if (open_.size() >= limits_.open) return done({});
  Open& open = open_[digest];
  open.wanted = std::move(wanted);
  open.waiting.push_back(std::move(done));
  calls_.review_token(std::string(token), [this, digest](k8s::Result<k8s::TokenStatus> status) {
    on_token(digest, std::move(status));
  });
}

void DelegatedAccess::on_token(const Digest& digest, k8s::Result<k8s::TokenStatus> status) {
  if (!status) return fail(digest, status.error());
  hooks_.on_progress();
  if (!status->authenticated) return remember(digest, {.outcome = Outcome::kUnknownToken});
  open_.at(digest).user = std::move(status->user);
  review_next(digest);
}

void DelegatedAccess::review_next(const Digest& digest) {
  const Open& open = open_.at(digest);
  if (open.allowed == open.wanted.size()) {
    return remember(digest, {.outcome = Outcome::kAllowed, .user = open.user.username});
  }
  calls_.review_access(
      open.user, open.wanted[open.allowed],
      [this, digest](k8s::Result<bool> allowed) { on_access(digest, std::move(allowed)); });
}

void DelegatedAccess::on_access(const Digest& digest, k8s::Result<bool> allowed) {
  if (!allowed) return fail(digest, allowed.error());
  hooks_.on_progress();
  Open& open = open_.at(digest);
  if (!*allowed) {
    return remember(digest, {.outcome = Outcome::kForbidden,
                             .user = open.user.username,
                             .denied = open.wanted[open.allowed]});
  }
  ++open.allowed;
  review_next(digest);
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
  const auto open = open_.extract(digest);
  for (const auto& done : open.mapped().waiting) done(verdict);
}

void DelegatedAccess::forget_old() {
  while (!order_.empty() && known_.at(order_.front()).until <= loop_.now()) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace sched::server
