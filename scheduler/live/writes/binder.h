// Carries out decisions to bind, and finds out for certain what became of each.
//
// The engine holds a pod's capacity until it is told the outcome, so the outcome must never be
// guessed. Some answers of the server are certain (bind_answer.h). Without one of those the bind
// may have landed or may still land, until `deadline` after it was sent, the server being told to
// give up by then (?timeout=), and the margin for its way there. Such a bind is set aside, and
// settled by reading the pod back, less and less often:
//
//   bound to our node        success
//   bound elsewhere          failed: somebody else was first; the watch brings the rest
//   gone, or another uid     failed
//   being deleted, unbound   failed: the server binds no such pod any more
//   still unbound            once no call can land any more, failed. Before, it is bound again to
//                            the SAME node (if both land, the second is a 409 and one more look):
//                            once in any case, and as often as it is looked at in the first
//                            `send_again_within`. After that it is only looked at
//
// So an answer that was lost, or a server that hiccups, costs a fraction of a second, and where a
// bind is never answered for certain, by a webhook that hangs or is down for instance, the attempt
// ends after some twenty seconds, and the engine decides anew, after its own back-off. on_unsettled
// comes after `tell_after`, with the last answer. In further attempts for that pod the bind is sent
// once each. While the server asks for patience (429) a bind is sent again for `tell_after`.
//
// What is set aside takes no call from other binds: its reads have a few calls of their own, and
// whose turn it is among the decisions is bind_queue.h's, where one namespace does not wait for
// another. Pods whose last attempt ended so stand in a group apart from the others of their
// namespace, whose binds may well go through.
//
// While may_send says no, nothing is sent: new binds wait, and of an unsettled one it is only
// looked on whether it has landed. What was not sent within some seconds is given back.
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
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace sched::live {

// What became of a bind.
enum class BindEnd {
  kBound,
  kOvertaken,  // nothing to bind any more: the pod is gone, going, or bound elsewhere
  kFailed,     // the server refused, or never got it, or did not carry it out
  kGivenBack,  // it was not sent: to be decided anew
};

struct BindOutcome {
  decision::Bind bind;
  BindEnd end = BindEnd::kFailed;
  // Why it is not bound. Of kGivenBack: empty where that is not worth telling.
  std::string message;
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
    BindQueue::Options queue = {};
    std::size_t max_open_reads = 8;
    std::chrono::milliseconds deadline{5'000};
    // Beyond the deadline, before a bind is taken for one that can land no more: for the way of its
    // bytes to the server, through load balancers that may keep them for a while, and for a write
    // that waits in etcd. It costs something only where an outcome is unknown and nothing settles
    // it sooner, so it is longer than what a lease can spare (BindTimes::margin).
    std::chrono::milliseconds margin{10'000};
    std::chrono::milliseconds send_again_within{5'000};  // of the first call
    std::chrono::milliseconds tell_after{15'000};        // likewise
    // Between the calls of one bind. A server that asks for much patience does not get it: what it
    // keeps waiting is capacity.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(200),
                                    .limit = std::chrono::milliseconds(5'000),
                                    .max_retry_after = std::chrono::seconds(10)};
  };
  struct Hooks {
    // Each bind ends here once.
    std::function<void(BindOutcome)> on_outcome;
    // A bind was refused (`retry_in` zero; not when the pod is gone), its outcome is unknown, or
    // the server asked for patience; then tried again, or looked at, after `retry_in`.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // The outcome of a bind has been unknown for long; `answer` is the last one to it. Once, and
    // not where the attempt before for that pod has ended so, or was told of, already.
    std::function<void(const decision::Bind&, const std::string& answer)> on_unsettled =
        [](auto&&...) {};
    // How many binds are set aside, when that has changed.
    std::function<void(std::size_t)> on_set_aside = [](std::size_t) {};
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
  // The pod is gone; what is known of earlier attempts with it is of no use any more.
  void forget(const std::string& uid) { unanswered_.erase(uid); }

  // Forgets what was not sent yet, without an outcome, and sends no bind any more, a second time
  // neither. For shutdown: those pods stay pending and are the next process's.
  void drop_waiting();

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  // Sent, and without a certain outcome yet. After drop_waiting() there is none any more
  // 2 · deadline + margin later, as long as the server lets pods be read.
  [[nodiscard]] std::size_t in_flight() const { return attempts_.size(); }

 private:
  struct Attempt;
  using Id = std::uint64_t;
  using TimePoint = k8s::EventLoop::Clock::time_point;
  using Action = void (Binder::*)(Attempt&);

  void send_more();
  void give_back_stale();
  void send(Attempt& attempt);
  void put_off(Attempt& attempt);
  void on_answer(Id id, const k8s::Result<void>& result);
  void on_refused(Attempt& attempt, const k8s::Error& error);
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
  void finish(Attempt& attempt, BindEnd end, std::string message);
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
  std::size_t aside_ = 0;
  std::deque<Id> looks_;  // attempts whose pods are to be read, in turn
  std::size_t open_reads_ = 0;
  // Uids of pods whose last attempt ended unbound without a certain answer, or was told of.
  std::unordered_set<std::string> unanswered_;
  std::unique_ptr<k8s::Timer> stale_timer_;  // while decisions wait
  Id next_id_ = 0;
  bool dropping_ = false;
  // Answers that come after the binder is gone find it gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
