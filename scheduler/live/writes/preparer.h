// Does the writes that come before a bind, and tells what came of them.
//
// Of one plan they go out one after the other, of several plans side by side. A write that is not
// answered counts as failed: it says which version of the object it changes, so that, should it
// land after all, whoever plans anew either sees it or is refused for it. The engine tries again,
// after its own back-off.
//
// While may_send says no, nothing is sent. All calls and callbacks are on the event loop's thread.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/engine/decision.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace sched::live {

class Preparer {
 public:
  // The calls it needs; of a k8s::Client, or a script in tests.
  struct Calls {
    using Done = std::function<void(k8s::Result<void>)>;
    std::function<void(const SelectNode&, Done)> select_node;
    std::function<void(const ReserveVolume&, Done)> reserve_volume;
  };
  struct Hooks {
    // Each plan's writes end here once. `failure`: empty when all are done.
    std::function<void(std::uint64_t plan, std::string failure)> on_outcome;
    // Asked before each write; false while this process may not write.
    std::function<bool()> may_send = [] { return true; };
  };
  // Plans that have a write open.
  static constexpr std::size_t kMostOpen = 16;

  Preparer(Calls calls, Hooks hooks) : calls_(std::move(calls)), hooks_(std::move(hooks)) {}
  ~Preparer() { *alive_ = false; }
  Preparer(const Preparer&) = delete;
  Preparer& operator=(const Preparer&) = delete;

  void prepare(decision::Prepare decision);
  // To be called when may_send may have become true.
  void resume() { send_more(); }
  // Sends nothing any more; what is not over has no outcome. For shutdown: those pods stay pending
  // and are the next process's.
  void stop();

 private:
  struct Task {
    decision::Prepare decision;
    std::size_t next = 0;  // index in its writes
  };
  void send_more();
  void send(const std::shared_ptr<Task>& task);
  void on_answer(const std::shared_ptr<Task>& task, const k8s::Result<void>& result);
  void end(const Task& task, std::string failure);

  Calls calls_;
  Hooks hooks_;
  std::deque<std::shared_ptr<Task>> waiting_;  // for a write to go out
  std::size_t open_ = 0;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
