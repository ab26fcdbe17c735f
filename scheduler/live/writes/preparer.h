// Does the writes that come before a bind, and reports their outcome.
//
// The writes of one plan go out one after the other, those of several plans in parallel, and those
// of one namespace do not wait for those of others that hang (call_queue.h). A write without an
// answer counts as failed. It names the version of the object that it changes, so if it is carried
// out later, a new plan either sees its result or is refused because of it. The engine tries again,
// after its own back-off. If the pod has no use for the plan any more (forget()), none of its
// further writes is sent: a volume would be made for a node that the pod does not get. Nor is one
// for a pod that does not wait any more when its plan comes.
//
// While may_send returns false, nothing is sent; a write that was not sent in time because of that
// waits, too. All calls and callbacks are on the event loop's thread.
#pragma once

#include "k8s-client/call_queue.h"
#include "k8s-client/error.h"
#include "scheduler/engine/decision.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace sched::live {

class Preparer {
 public:
  // The calls that it needs: of a k8s::Client, or a script in tests.
  struct Calls {
    using Done = std::function<void(k8s::Result<void>)>;
    std::function<void(const SelectNode&, Done)> select_node;
    std::function<void(const ReserveVolume&, Done)> reserve_volume;
  };
  struct Hooks {
    // Called once for each plan that is not forgotten. `failure`: empty if all writes are done.
    std::function<void(std::uint64_t plan, std::string failure)> on_outcome;
    // Called once for each that is.
    std::function<void(std::uint64_t plan)> on_forgotten = [](std::uint64_t) {};
    // Whether the watch shows the pod with that uid unbound, and not being deleted.
    std::function<bool(const std::string& uid)> waits = [](const std::string&) { return true; };
    // Called before each write; false while this process may not write.
    std::function<bool()> may_send = [] { return true; };
  };
  // At most so many plans have a write open.
  static constexpr std::size_t kMostOpen = 16;

  Preparer(Calls calls, Hooks hooks) : calls_(std::move(calls)), hooks_(std::move(hooks)) {}
  ~Preparer() { *alive_ = false; }
  Preparer(const Preparer&) = delete;
  Preparer& operator=(const Preparer&) = delete;

  void prepare(decision::Prepare decision);
  // The pod is gone, has a node, or its plan was undone.
  void forget(const std::string& uid);
  // Call it when may_send may have become true.
  void resume() { send_more(); }
  // Sends nothing any more; plans that are not over get no outcome. For shutdown: those pods stay
  // pending, for the next process.
  void stop();
  // How many writes were sent and have no answer yet. It is zero a write's deadline after stop().
  [[nodiscard]] std::size_t open() const { return queue_.open(); }

 private:
  struct Task {
    decision::Prepare decision;
    std::size_t next = 0;    // index in its writes
    bool forgotten = false;  // the others are not sent
  };
  using TaskPtr = std::shared_ptr<Task>;
  void send_more();
  void send(const TaskPtr& task);
  void on_answer(const TaskPtr& task, const k8s::Result<void>& result);
  [[nodiscard]] static const std::string& namespace_of(const TaskPtr& task) {
    return task->decision.pod.namespace_;
  }
  void finish(const TaskPtr& task, std::string failure);
  void end(const Task& task, std::string failure);

  Calls calls_;
  Hooks hooks_;
  std::unordered_multimap<std::string, TaskPtr> tasks_;  // by uid of the pod, as a rule one of each
  k8s::CallQueue<TaskPtr> queue_;  // for a write to go out; forgotten ones are skipped
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
