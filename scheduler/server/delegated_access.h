// Which accounts may do what. The API server decides, by TokenReview and then SubjectAccessReview,
// as for kube-scheduler's --secure-port.
//
// An answer is good for ten seconds, yes and no alike (kube-scheduler's own times), so that scrapes
// cost the API server next to nothing, and a right that was taken away ends as soon. What unknown
// clients can cause is bounded: the number of reviews at a time, and of stored answers, of which
// the oldest are dropped first. Requests with one token for the same rights share one review. The
// user of a token is stored separately, for further questions with that token. Of tokens only the
// SHA-256 is stored. A review that fails is no answer, and is not stored.
#pragma once

#include "k8s-client/access_review.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sched::server {

// On its loop's thread.
class DelegatedAccess {
 public:
  enum class Outcome {
    kAllowed,
    kUnknownToken,
    kForbidden,
    kNotReviewed,  // the API server gave no answer, or too many reviews are open
  };
  struct Verdict {
    Outcome outcome = Outcome::kNotReviewed;
    std::string user = {};                   // kAllowed and kForbidden: whose token it is
    std::optional<k8s::Access> denied = {};  // kForbidden: what that user may not
    friend bool operator==(const Verdict&, const Verdict&) = default;
  };

  // As of k8s::Client.
  struct Calls {
    std::function<void(const std::string& token,
                       std::function<void(k8s::Result<k8s::TokenStatus>)>)>
        review_token;
    std::function<void(const k8s::UserInfo&, const k8s::Access&,
                       std::function<void(k8s::Result<bool>)>)>
        review_access;
  };

  struct Limits {
    std::chrono::seconds good_for{10};
    std::size_t remembered = 1024;
    std::size_t open = 64;
  };

  // Called for each review that fails, and for each that is answered. The receiver logs a repeated
  // problem only once.
  struct Hooks {
    std::function<void(const k8s::Error&)> on_problem = [](const k8s::Error&) {};
    std::function<void()> on_progress = [] {};
  };

  // `loop` must outlive it, and it must outlive the callbacks of `calls`.
  DelegatedAccess(k8s::EventLoop& loop, Calls calls, Limits limits, Hooks hooks);
  DelegatedAccess(const DelegatedAccess&) = delete;
  DelegatedAccess& operator=(const DelegatedAccess&) = delete;

  // Whether the token's user may do all of `wanted`, which are reviewed in that order until one is
  // denied; with nothing wanted, whose token it is. Calls `done` once, at once if the verdict is
  // known.
  void ask(std::string_view token, std::vector<k8s::Access> wanted,
           std::function<void(const Verdict&)> done);
  // Whether the token's user may do each of `wanted`, in their order; false for what cannot be
  // reviewed. Each answer is stored separately. Calls `done` once, at once if all is known.
  void ask_each(std::string_view token, const std::vector<k8s::Access>& wanted,
                std::function<void(const std::vector<bool>&)> done);

 private:
  using Clock = k8s::EventLoop::Clock;
  using Digest = std::string;  // of the token, and of all that is wanted
  // What is known for a while, the oldest of which is forgotten first.
  template <typename T>
  struct Known {
    struct Entry {
      T value;
      Clock::time_point until;
    };
    std::unordered_map<Digest, Entry> entries;
    std::deque<Digest> order;  // of entries, the oldest first

    // Null: it is not known, or not any more.
    [[nodiscard]] const Entry* find(const Digest& digest, Clock::time_point now) const;
    void forget_old(Clock::time_point now);
    void remember(const Digest& digest, Entry entry, std::size_t at_most);
  };
  struct Open {
    Digest token;
    std::vector<k8s::Access> wanted;
    std::size_t allowed = 0;  // of them, so far
    k8s::UserInfo user = {};
    Clock::time_point user_until{};  // until then `user` is known to be the token's
    std::vector<std::function<void(const Verdict&)>> waiting;
  };

  void on_token(const Digest& digest, k8s::Result<k8s::TokenStatus> status);
  void review_next(const Digest& digest);
  void on_access(const Digest& digest, k8s::Result<bool> allowed);
  void remember(const Digest& digest, Verdict verdict);
  void fail(const Digest& digest, const k8s::Error& error);
  void finish(const Digest& digest, const Verdict& verdict);
  void forget_old();

  k8s::EventLoop& loop_;
  Calls calls_;
  Limits limits_;
  Hooks hooks_;
  Known<Verdict> known_;
  Known<k8s::UserInfo> users_;  // by token
  std::unordered_map<Digest, Open> open_;
};

}  // namespace sched::server
