// Drives an Election (election.h) over a Client: sends its requests, keeps its waits, reports
// changes.
//
// Give it a client with a transport of its own: a renewal must not wait behind a thousand binds.
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
    // This process leads from now on; election() has the origin.
    std::function<void()> on_started_leading;
    // The lease was renewed: valid_until() has advanced.
    std::function<void()> on_renewed;
    // This process no longer leads and its election is over; `why` names the cause.
    std::function<void(const std::string& why)> on_stopped_leading;
    // Another process was seen to lead, or (empty) none.
    std::function<void(const std::string& identity)> on_new_leader;
    // A request failed; there may be a next one. It is not a failure if the lease is missing, or if
    // another process has changed it meanwhile.
    std::function<void(const Error&)> on_problem;
    // A request was answered without failure.
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
  // election. Calls `done` when that is complete, at the latest after `limit`; on_stopped_leading
  // is not called. Call it only when nothing is under way any more that only a leader may do.
  // `all_settled`: see Election::release().
  void release(std::chrono::milliseconds limit, std::function<void()> done,
               bool all_settled = true);
  // Ends without any report. No hook is called after it.
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
  // Tells callbacks that come later that this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// "<host name>_<random uuid>", as clients of client-go identify themselves: never the same twice.
[[nodiscard]] std::string make_identity(const std::string& host_name);

}  // namespace k8s
