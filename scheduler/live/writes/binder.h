// Carries out decisions to bind, and determines for certain the outcome of each.
//
// The engine holds a pod's capacity until it gets the outcome, so the outcome must never be
// guessed. Some answers of the server are certain (bind_answer.h). Without one of those the bind
// may have been carried out, or may still be, until `deadline` after it was sent, because the
// server is asked to give up by then (?timeout=), and the margin for its transmission. Such a bind
// is set aside, and settled by what the watch shows of the pod, and by reading it, less and less
// often:
//
//   bound to the chosen node  success
//   bound to another node     failed: another scheduler was first; the watch brings the rest
//   gone, or another uid      failed
//   being deleted, unbound    failed: the server refuses to bind such a pod
//   still unbound             failed, when no call can be carried out any more. Before that, it is
//                             bound again to the SAME node (if both calls are carried out, the
//                             second is a 409 and one more read): once in any case, and at every
//                             read in the first `send_again_within`. Later the pod is only read.
//                             What the watch shows may be old, so here it says nothing
//
// So a lost answer, or a short failure of a server, costs a fraction of a second. If a bind is
// never answered for certain, for example because of a webhook that hangs or is down, the attempt
// ends after some twenty seconds, and the engine decides again, after its own back-off.
// on_unsettled is called after `tell_after`, with the last answer. In further attempts for that pod
// the bind is sent once each. While the server asks for pauses (429) a bind is sent again until
// `tell_after`.
//
// Binds that are set aside take no calls from other binds: their reads have a few calls of their
// own. bind_queue.h decides which decision is next, so that one namespace does not wait for
// another. Pods with a last attempt that ended in that way are in a separate group from the others
// of their namespace; the binds of those may well succeed.
//
// While may_send returns false, no bind is sent: new binds wait, and for unsettled ones the pod is
// only read. Decisions that were not sent within some seconds are given back.
//
// Nothing here blocks; all calls and callbacks are on the event loop's thread.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/engine/decision.h"
#include "scheduler/live/writes/bind_queue.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace sched::live {

// The outcome of a bind.
enum class BindEnd {
  kBound,
  kOvertaken,  // nothing to bind any more: the pod is gone, being deleted, or bound elsewhere
  kFailed,     // the server refused
  // The server never got it or did not carry it out, for a reason that has nothing to do with pod
  // and node: it is overloaded, or silent, or does not let this process bind.
  kUnanswered,
  kGivenBack,  // it was not sent in time: the engine must decide again
  kStuck,      // the same, because earlier binds of its namespace have no answer
};

// Whether a call was sent.
[[nodiscard]] constexpr bool was_sent(BindEnd end) {
  return end != BindEnd::kGivenBack && end != BindEnd::kStuck;
}

struct BindOutcome {
  decision::Bind bind;
  BindEnd end = BindEnd::kFailed;
  // Why it is not bound; empty for kGivenBack, which is not reported.
  std::string message;
};

class Binder {
 public:
  // The two calls that it needs: of a k8s::Client, or a script in tests.
  struct Calls {
    std::function<void(const k8s::Binding&, std::chrono::milliseconds deadline,
                       std::function<void(k8s::Result<void>)>)>
        bind;
    std::function<void(const std::string& namespace_, const std::string& name,
                       std::function<void(k8s::Result<k8s::Pod>)>)>
        get_pod;
  };
  struct Options {
    BindQueue::Options queue = {};
    std::size_t max_open_reads = 8;
    std::chrono::milliseconds deadline{5'000};
    // The time beyond the deadline after which a bind can no longer be carried out: for the
    // transmission of its bytes to the server, through load balancers that may hold them for a
    // while, and for a write that waits in etcd. It costs time only if an outcome is unknown and
    // nothing settles it earlier, so it is longer than what a lease leaves time for
    // (BindTimes::margin).
    std::chrono::milliseconds margin{10'000};
    std::chrono::milliseconds send_again_within{5'000};  // after the first call
    std::chrono::milliseconds tell_after{15'000};        // after the first call
    // Between the calls of one bind. A server that asks for very long pauses gets shorter ones,
    // because a waiting bind holds capacity.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(200),
                                    .limit = std::chrono::milliseconds(5'000),
                                    .max_retry_after = std::chrono::seconds(10)};
  };
  struct Hooks {
    // Called once for each bind.
    std::function<void(BindOutcome)> on_outcome;
    // A bind was refused (`retry_in` zero; not called if the pod is gone), or its outcome is
    // unknown, or the server asked for a pause; then it is tried again, or the pod read, after
    // `retry_in`.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // The outcome of a bind has been unknown for long; `answer` is the last one. Called once, and
    // not if the previous attempt for that pod ended in this way or was reported already.
    std::function<void(const decision::Bind&, const std::string& answer)> on_unsettled =
        [](auto&&...) {};
    // How many binds are set aside, whenever that changes.
    std::function<void(std::size_t)> on_set_aside = [](std::size_t) {};
    // Whether the watch shows the pod with that uid unbound. Nothing is remembered of others.
    std::function<bool(const std::string& uid)> waits = [](const std::string&) { return true; };
    // Called before each bind; false while this process may not bind.
    std::function<bool()> may_send = [] { return true; };
  };

  Binder(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void bind(decision::Bind decision);
  // Call it when may_send may have become true.
  void resume() { send_more(); }
  // The watch shows the pod. O(1). No outcome follows before it returns.
  void observed(const k8s::Pod& pod);
  // The watch shows that the pod is gone. O(1). No outcome follows before it returns.
  void forget(const std::string& uid);

  // Drops what was not sent yet, without an outcome, and sends no further bind, no repetition
  // either. For shutdown: those pods stay pending, for the next process.
  void drop_waiting();

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  // How many binds were sent and have no certain outcome yet. It is zero 2 · deadline + margin
  // after drop_waiting(), if the server lets pods be read.
  [[nodiscard]] std::size_t in_flight() const { return attempts_.size(); }

 private:
  struct Attempt;
  // An outcome that is certain.
  struct Settled {
    BindEnd end;
    std::string message;
  };
  using Id = std::uint64_t;
  using TimePoint = k8s::EventLoop::Clock::time_point;
  using Action = void (Binder::*)(Attempt&);

  void send_more();
  void give_back_stale();
  void send(Attempt& attempt);
  void put_off(Attempt& attempt);
  void on_answer(Id id, const BindGroup& group, const k8s::Result<void>& result);
  void on_refused(Attempt& attempt, const k8s::Error& error, BindEnd end);
  void on_later(Attempt& attempt, const k8s::Error& error);
  void set_aside(Attempt& attempt);
  void take_back(Attempt& attempt);
  void look(Attempt& attempt);
  void look_later(Attempt& attempt, const k8s::Error* error);
  void read_more();
  void read(Attempt& attempt);
  void on_read(Id id, const k8s::Result<k8s::Pod>& result);
  void on_unbound(Attempt& attempt);
  void after(std::chrono::milliseconds delay, Attempt& attempt, Action action);
  // By what a pod says; nullopt: that decides nothing.
  [[nodiscard]] static std::optional<Settled> settled_by(const k8s::Pod& pod,
                                                         const decision::Bind& bind);
  void on_shown(Attempt& attempt, Settled outcome);
  void finish_as_shown(Attempt& attempt);
  void finish(Attempt& attempt, BindEnd end, std::string message);
  std::unique_ptr<Attempt> take_out(const Attempt& attempt);
  void tell_if_due(Attempt& attempt);
  [[nodiscard]] bool may_send_again(const Attempt& attempt) const;
  [[nodiscard]] std::chrono::milliseconds next_pause(Attempt& attempt, const k8s::Error* error);
  [[nodiscard]] Attempt* find(Id id);

  k8s::EventLoop& loop_;
  Calls calls_;
  Options options_;
  Hooks hooks_;
  BindQueue queue_;
  std::unordered_map<Id, std::unique_ptr<Attempt>> attempts_;
  std::unordered_multimap<std::string, Id> of_pod_;  // attempts by uid, as a rule one of each
  std::size_t aside_ = 0;
  std::deque<Id> looks_;  // attempts; their pods are read in this order
  std::size_t open_reads_ = 0;
  // Uids of pods with a last attempt that ended unbound without a certain answer, or was reported.
  std::unordered_set<std::string> unanswered_;
  std::unique_ptr<k8s::Timer> stale_timer_;  // while decisions wait
  Id next_id_ = 0;
  bool dropping_ = false;
  // Tells callbacks that come later that the binder is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
