// Carries out decisions to bind, and finds out for certain what became of each.
//
// The engine holds a pod's capacity until it is told the outcome, so the outcome must never be
// guessed. An answer of the server is certain. Without an answer (deadline, lost connection), or
// with one that does not say (5xx), the bind may have landed or may still land, until `deadline`
// after it was sent, the server being told to give up by then (?timeout=), and the margin for its
// way there. Such a bind is settled by
// reading the pod back:
//
//   bound to our node        success
//   bound elsewhere          failed: somebody else was first; the watch brings the rest
//   gone, or another uid     failed
//   being deleted, unbound   failed: the server binds no such pod any more
//   still unbound            while an earlier try may still land, bind again to the SAME node (if
//                            both land, the second is a 409 and one more look), at once the first
//                            time, then with back-off; once none can, failed
//
// A 409 is settled the same way: it may be the echo of our own earlier try.
//
// While may_send says no, nothing is sent: new binds wait, and of an unsettled one it is only
// looked on whether it has landed.
//
// At most `max_in_flight` calls are open at a time, the rest waits in order. Nothing here blocks;
// all calls and callbacks are on the event loop's thread.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/watch/back_off.h"
#include "scheduler/engine/decision.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace sched::live {

// What became of a bind.
enum class BindEnd {
  kBound,
  kOvertaken,  // nothing to bind any more: the pod is gone, going, or bound elsewhere
  kFailed,     // the server refused, or never got it
};

struct BindOutcome {
  decision::Bind bind;
  BindEnd end = BindEnd::kFailed;
  std::string message;  // why it is not bound
};

class Binder {
 public:
  // The two calls it needs; of a k8s::Client, or a script in tests.
  struct Calls {
    std::function<void(const k8s::Binding&, std::chrono::milliseconds deadline,
                       std::function<void(k8s::Result<void>)>)>
        bind;
    std::function<void(const std::string& namespace_, const std::string& name,
                       std::function<void(k8s::Result<k8s::Pod>)>)>
        get_pod;
  };
  struct Options {
    std::size_t max_in_flight = 32;
    std::chrono::milliseconds deadline{5'000};
    // Beyond the deadline, before a bind is taken for one that can land no more: for the way of its
    // bytes to the server, through load balancers that may keep them for a while, and for a write
    // that waits in etcd. It costs something only where an outcome is unknown and nothing settles
    // it sooner, so it is longer than what a lease can spare (BindTimes::margin).
    std::chrono::milliseconds margin{10'000};
    // Between the calls of one bind.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(200),
                                    .limit = std::chrono::milliseconds(5'000)};
  };
  struct Hooks {
    // Each bind ends here once.
    std::function<void(BindOutcome)> on_outcome;
    // A bind was refused (`retry_in` zero; not when the pod is gone), its outcome is unknown, or
    // the server asked for patience; then tried again after `retry_in`.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // Asked before each bind; false while this process may not bind.
    std::function<bool()> may_send = [] { return true; };
  };

  Binder(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void bind(decision::Bind decision);
  // To be called when may_send may have become true.
  void resume() { send_more(); }

  // Forgets what was not sent yet, without an outcome, and sends no new pod's bind any more. For
  // shutdown: those pods stay pending and are the next process's.
  void drop_waiting();

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Attempt;
  using Id = std::uint64_t;
  using Action = void (Binder::*)(Attempt&);

  void send_more();
  void send(Attempt& attempt);
  void put_off(Attempt& attempt);
  void on_bind_result(Id id, const k8s::Result<void>& result);
  void read_back(Attempt& attempt);
  void on_read_back(Id id, const k8s::Result<k8s::Pod>& result);
  void on_unbound(Attempt& attempt);
  void retry(Attempt& attempt, const k8s::Error& error, Action action);
  void after(std::chrono::milliseconds delay, Attempt& attempt, Action action);
  void finish(Attempt& attempt, BindEnd end, std::string message);
  [[nodiscard]] bool may_still_land(const Attempt& attempt) const;
  [[nodiscard]] Attempt* find(Id id);

  k8s::EventLoop& loop_;
  Calls calls_;
  Options options_;
  Hooks hooks_;
  std::deque<decision::Bind> waiting_;
  std::unordered_map<Id, std::unique_ptr<Attempt>> in_flight_;
  Id next_id_ = 0;
  bool dropping_ = false;
  // Answers that come after the binder is gone find it gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
