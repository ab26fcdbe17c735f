// Drives an Election (election.h) over a Client: sends its requests, keeps its waits, tells what
// changes.
//
// Give it a client with a transport of its own: a renewal must not queue behind a thousand binds.
// All functions and hooks are called on the event loop's thread.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/leader_election/election.h"

#include <functional>
#include <memory>
#include <string>

namespace k8s {

class LeaderElector {
 public:
  struct Hooks {
    // We lead from now on; election() says how that came.
    std::function<void()> on_started_leading;
    // The lease was renewed: valid_until() has moved on.
    std::function<void()> on_renewed;
    // We lead no longer and the election is over for us; `why` names the cause.
    std::function<void(const std::string& why)> on_stopped_leading;
    // Somebody else was seen to lead, or (empty) nobody.
    std::function<void(const std::string& identity)> on_new_leader;
    // A request failed; there may be a next one. A lease that is missing, or that somebody else has
    // changed meanwhile, is no failure.
    std::function<void(const Error&)> on_problem;
    // A request was answered, and did not fail.
    std::function<void()> on_answered;
  };
  using Clock = std::function<ElectionTime()>;

  // `client` and `loop` must outlive it. `clock`: BootClock and the system's; another one in tests.
  LeaderElector(Client& client, EventLoop& loop, ElectionOptions options, Hooks hooks,
                Clock clock = system_time);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void start();
  // Gives the lease back if it is held, so that the next leader need not wait, and ends the
  // election. Calls `done` when that is through, at the latest after `limit`; on_stopped_leading is
  // not called. Only when nothing of what a leader alone may do is under way any more.
  void release(std::chrono::milliseconds limit, std::function<void()> done);
  // Ends without a word to anybody. No hook is called after it.
  void stop();

  [[nodiscard]] const Election& election() const { return election_; }
  [[nodiscard]] bool leads() const { return election_.state() == Election::State::kLeading; }

  [[nodiscard]] static ElectionTime system_time();

 private:
  void take(ElectionStep step);
  void send(LeaseRequest request);
  void on_answer(LeaseRequest::Kind asked, Result<Lease> answer);
  void report_changes(bool led_before, BootClock::time_point valid_before);
  void finish_release();

  Client& client_;
  EventLoop& loop_;
  ElectionOptions options_;
  Hooks hooks_;
  Clock clock_;
  Election election_;
  std::string reported_leader_;
  std::unique_ptr<Timer> timer_;
  std::function<void()> released_;
  std::unique_ptr<Timer> release_limit_;
  bool stopped_ = false;
  // Answers that come after this object is gone find it gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// "<host name>_<random uuid>", as client-go's users name themselves: never the same twice.
[[nodiscard]] std::string make_identity(const std::string& host_name);

}  // namespace k8s
