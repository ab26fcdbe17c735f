#include "scheduler/server/delegated_access.h"

#include <openssl/sha.h>

#include <algorithm>
#include <memory>

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

template <typename T>
auto DelegatedAccess::Known<T>::find(const Digest& digest, Clock::time_point now) const
    -> const Entry* {
  const auto found = entries.find(digest);
  return found == entries.end() || found->second.until <= now ? nullptr : &found->second;
}

template <typename T>
void DelegatedAccess::Known<T>::forget_old(Clock::time_point now) {
  while (!order.empty() && entries.at(order.front()).until <= now) {
    entries.erase(order.front());
    order.pop_front();
  }
}

template <typename T>
void DelegatedAccess::Known<T>::remember(const Digest& digest, Entry entry, std::size_t at_most) {
  if (entries.insert_or_assign(digest, std::move(entry)).second) order.push_back(digest);
  if (order.size() > at_most) {
    entries.erase(order.front());
    order.pop_front();
  }
}

void DelegatedAccess::ask(std::string_view token, std::vector<k8s::Access> wanted,
                          std::function<void(const Verdict&)> done) {
  forget_old();
  const Digest digest = sha256(joined(token, wanted));
  if (const auto* known = known_.find(digest, loop_.now())) return done(known->value);
  if (const auto open = open_.find(digest); open != open_.end()) {
    open->second.waiting.push_back(std::move(done));
    return;
  }
  if (open_.size() >= limits_.open) return done({});
  Open& open = open_[digest];
  open.token = sha256(token);
  open.wanted = std::move(wanted);
  open.waiting.push_back(std::move(done));
  if (const auto* user = users_.find(open.token, loop_.now())) {
    open.user = user->value;
    open.user_until = user->until;
    return review_next(digest);
  }
  calls_.review_token(std::string(token), [this, digest](k8s::Result<k8s::TokenStatus> status) {
    on_token(digest, std::move(status));
  });
}

void DelegatedAccess::ask_each(std::string_view token, const std::vector<k8s::Access>& wanted,
                               std::function<void(const std::vector<bool>&)> done) {
  struct Asked {
    std::vector<bool> allowed;
    std::size_t open;
    std::function<void(const std::vector<bool>&)> done;
  };
  const auto asked = std::make_shared<Asked>(
      Asked{std::vector<bool>(wanted.size()), wanted.size(), std::move(done)});
  if (wanted.empty()) return asked->done(asked->allowed);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ask(token, {wanted[i]}, [asked, i](const Verdict& verdict) {
      asked->allowed[i] = verdict.outcome == Outcome::kAllowed;
      if (--asked->open == 0) asked->done(asked->allowed);
    });
  }
}

void DelegatedAccess::on_token(const Digest& digest, k8s::Result<k8s::TokenStatus> status) {
  if (!status) return fail(digest, status.error());
  hooks_.on_progress();
  Open& open = open_.at(digest);
  open.user_until = loop_.now() + limits_.good_for;
  if (!status->authenticated) return remember(digest, {.outcome = Outcome::kUnknownToken});
  open.user = std::move(status->user);
  users_.remember(open.token, {.value = open.user, .until = open.user_until}, limits_.remembered);
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
  // Not longer than the token: a right ends with it.
  const auto until = std::min(loop_.now() + limits_.good_for, open_.at(digest).user_until);
  known_.remember(digest, {.value = verdict, .until = until}, limits_.remembered);
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
  known_.forget_old(loop_.now());
  users_.forget_old(loop_.now());
}

}  // namespace sched::server
