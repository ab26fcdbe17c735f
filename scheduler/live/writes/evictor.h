// Makes room for pods by decisions to evict (decision::Evict), and reports the outcome of each.
//
// First the pod that needs the room is nominated for the node. Only after the server has accepted
// that, each victim gets the condition DisruptionTarget, by which a Job can tell its end from a
// failure. Then the victim is deleted, even if the condition was refused for good. The victims of a
// decision are handled in parallel; calls about pods of one namespace do not wait for those of
// others that hang (call_queue.h). A victim that is gone, or whose name another pod has by now,
// needs no call any more: its room is free.
//
// If a victim may not be deleted, by an admission policy for example, the others would end for
// nothing, and again each time that the pod is tried; and the victim itself would run on with a
// condition that announces its end. So each deletion is tried before any of them is begun (a dry
// run).
//
// Each call names the uid of its pod, so it cannot hit another one, and it can be sent twice. A
// call without an answer, or with a failure that may be temporary, is repeated until two minutes
// after the decision. After that time, or after a permanent refusal, the decision has failed: no
// further call is sent for it, and the engine decides anew. Victims that are deleted stay deleted.
// If the pod does not need the room any more (forget()), its decision ends at once, without an
// outcome; its nomination may be carried out after that (on_may_be_nominated). Nothing is done for
// a pod that does not wait any more when its decision comes: its victims would end for nothing.
//
// While may_send returns false, nothing is sent. All calls and callbacks are on the event loop's
// thread.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/call_queue.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/engine/decision.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace sched::live {

class Evictor {
 public:
  // The calls that it needs: of a k8s::Client, or a script in tests.
  struct Calls {
    using Done = std::function<void(k8s::Result<void>)>;
    std::function<void(const PodRef& pod, const std::string& node, Done)> nominate;
    std::function<void(const PodRef& pod, Done)> try_delete;
    std::function<void(const PodRef& pod, const std::string& message, Done)> set_disruption_target;
    std::function<void(const PodRef& pod, Done)> delete_pod;
  };
  struct Hooks {
    // Called once for each decision that is not forgotten. `failure`: empty if the pod is
    // nominated, and all victims are deleted or gone.
    std::function<void(std::uint64_t plan, std::string failure)> on_outcome;
    // The server has taken the deletion of a victim; also after the decision is over.
    std::function<void(const decision::Evict&, const decision::Victim&)> on_evicted;
    // A decision is over, but a call that was sent for it may still nominate the pod for the node.
    std::function<void(const PodRef& pod, const std::string& node)> on_may_be_nominated =
        [](auto&&...) {};
    // Whether the watch shows the pod with that uid unbound, and not being deleted.
    std::function<bool(const std::string& uid)> waits = [](const std::string&) { return true; };
    // Called before each call; false while this process may not write.
    std::function<bool()> may_send = [] { return true; };
  };
  struct Options {
    // Between two tries of one call.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(500),
                                    .limit = std::chrono::milliseconds(10'000)};
    std::chrono::milliseconds give_up_after{120'000};  // from the decision
  };
  // At most so many calls are open.
  static constexpr std::size_t kMostOpen = 16;

  Evictor(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks);
  ~Evictor() { *alive_ = false; }
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  void evict(decision::Evict decision);
  // The pod is gone, has a node, or its plan was undone: no further call is made for it.
  void forget(const std::string& uid);
  // The watch shows that a pod is gone or has finished. If it is a victim with a call that is open,
  // or is to be repeated, that call is not waited for any more. O(such calls).
  void ended(const std::string& uid);
  // Call it when may_send may have become true.
  void resume() { send_more(); }
  // Sends nothing any more; decisions that are not over get no outcome. For shutdown: the pods stay
  // pending, for the next process. A deletion that is under way may still be reported (on_evicted).
  void stop();
  // How many calls were sent and have no answer yet. It is zero a call's deadline after stop().
  [[nodiscard]] std::size_t open() const { return queue_.open(); }

 private:
  enum class Kind : std::uint8_t { kNominate, kTry, kMark, kDelete };
  // A call for one pod of a decision: the nomination, or the next call for a victim.
  struct Step {
    std::shared_ptr<const decision::Evict> decision;
    PodRef pod;
    Kind kind = Kind::kNominate;
    k8s::BackOff back_off;
    bool reclaimed = false;                  // of a victim (decision::Victim)
    std::unique_ptr<k8s::Timer> pause = {};  // before it is repeated
  };
  // Why a call failed. The condition of the pod that room is made for must not name a pod of
  // another namespace, nor quote the server's message about it.
  struct Failure {
    std::string told;     // for the pod's condition
    std::string in_full;  // for the log
  };
  // A decision that is not over.
  struct Task {
    std::shared_ptr<const decision::Evict> decision;
    bool nominates = false;  // the nomination was sent, and has not succeeded yet
    std::size_t left = 0;    // victims that are not tried yet; after that, that are not gone yet
    Failure last_failure;    // of a call that is repeated
    std::unique_ptr<k8s::Timer> limit;
  };
  using StepPtr = std::shared_ptr<Step>;

  [[nodiscard]] StepPtr make_step(std::shared_ptr<const decision::Evict> decision, PodRef pod,
                                  Kind kind);
  void send_more();
  void send(const StepPtr& step);
  void on_answer(const StepPtr& step, const k8s::Result<void>& result);
  void on_done(const StepPtr& step);
  void on_failed(const StepPtr& step, const k8s::Error& error);
  // Each victim's next call is of that kind.
  void begin_victims(const std::shared_ptr<const decision::Evict>& decision, Kind kind);
  void tried(const Step& victim);
  void gone(const Step& victim);
  // The victim is gone before its call has succeeded.
  void gone_before(const Step& victim);
  void repeat(const StepPtr& step, const k8s::Error& error);
  void give_up(const decision::Evict& decision);
  void end(const decision::Evict& decision, Failure failure);
  void drop(std::uint64_t plan);
  [[nodiscard]] static std::string text_of(const Step& step, const std::string& pod);
  [[nodiscard]] static Failure failure_of(const Step& step, const k8s::Error& error);

  k8s::EventLoop& loop_;
  Calls calls_;
  Options options_;
  Hooks hooks_;
  std::unordered_map<std::uint64_t, Task> tasks_;  // by plan
  // For their call to go out; those of decisions that are over are skipped.
  k8s::CallQueue<StepPtr> queue_;
  // Their call is open, or pauses before it is repeated; none is of a decision that is over.
  std::unordered_set<StepPtr> begun_;
  std::uint64_t steps_ = 0;  // seeds the jitter of each
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
