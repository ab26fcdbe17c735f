// Writes to pending pods why they are pending: the condition PodScheduled=False in their status,
// and beside it for which node they are nominated, where that changes.
//
// It writes only to pods that the watch shows unbound and not being deleted, and only to the
// version that the watch shows: if the pod is bound meanwhile, by this process or another, it has
// changed, and the server refuses the late write (409). A pod that has changed otherwise is written
// when the watch has shown the change.
//
// A status is not written if it is equal to what was written last or to what the pod has already
// (after a restart, or when this process begins to lead). For each pod at most one write is under
// way and only the newest text waits, so a pod that is judged often costs no more than the server
// can take. Those of one namespace do not wait for those of others that hang (call_queue.h). Writes
// wait behind binds: while some wait, one goes out at a time, or two of different namespaces; those
// that were sent before do not count.
//
// A nomination by the evictor may be carried out after its decision is over, and after the status
// that removes it. When the watch shows such a nomination it is removed again, once.
//
// A write that fails is repeated if that may help, also after a refusal (403): a server that has
// just started may not have read its roles yet. A role that is missing, a policy, or a webhook that
// is down fails it for ever, perhaps for very many pods. So those that failed have their next tries
// so far apart that there are at most twenty a second in all. Each that succeeds lets two others be
// tried at once, of its namespace before those of others: where the cause has ended, all are
// written soon, and where it has not, the tries remain few. On the event loop's thread.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/call_queue.h"
#include "k8s-client/client.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/base/event.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace sched::live {

class StatusWriter {
 public:
  // k8s::Client::set_pod_scheduled: `pod` has its identity, the version that the watch shows, and
  // the status of its condition at that version.
  using Write = std::function<void(const k8s::Pod& pod, const k8s::PodScheduledCondition&,
                                   std::function<void(k8s::Result<void>)>)>;
  struct Options {
    std::size_t max_in_flight = 16;
    // Between two tries to write the status of one pod.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(500),
                                    .limit = std::chrono::milliseconds(5'000)};
    // The least time between two retries, of whichever pods.
    std::chrono::milliseconds between_failed{50};
  };
  struct Hooks {
    // True while binds wait that statuses must not delay.
    std::function<bool()> binds_wait;
    // A write failed; `retry_in` zero: it is not repeated. Not called if the pod is gone or has
    // changed.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // The server has answered properly: a write succeeded, or its pod is gone or has changed.
    std::function<void()> on_answered = [] {};
  };

  StatusWriter(k8s::EventLoop& loop, Write write, Options options, Hooks hooks);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // No effect unless the watch shows the pod so.
  void write(const PodRef& pod, k8s::PodScheduledCondition condition);
  // The same where the pod has a condition, or is about to get one, that does not hold any more. A
  // pod that says nothing is left alone.
  void replace(const PodRef& pod, k8s::PodScheduledCondition condition);
  // A call that is not waited for any more may nominate the pod for that node, now or later.
  void may_be_nominated(const PodRef& pod, const std::string& node);
  // A pod of the watch, unbound and not being deleted.
  void observed(const k8s::Pod& pod);
  // The pod is bound, being deleted or gone: nothing more is written to it.
  void forget(const std::string& uid);
  // Whether the watch shows the pod, unbound and not being deleted.
  [[nodiscard]] bool shows(const std::string& uid) const;
  // For shutdown, when the watch shows nothing any more: failed writes are not repeated.
  void repeat_nothing();

  // Call it when binds_wait may have become false.
  void resume() { send_more(); }
  // Whether nothing waits and nothing is under way.
  [[nodiscard]] bool is_idle() const {
    return queue_.waiting() == 0 && queue_.open() == 0 && retrying_ == 0;
  }

 private:
  struct PodState;
  // A nomination that nothing waits for any more.
  struct LateNomination {
    std::string node;
    std::optional<std::string> instead;  // what was wanted since; nullopt: it is not known yet
  };

  void send_more();
  [[nodiscard]] std::optional<std::string> take();
  void send(const std::string& uid, PodState& state);
  void on_result(const std::string& uid, const k8s::Result<void>& result);
  void on_failed(const std::string& uid, PodState& state, const k8s::Error& error);
  void retry(const std::string& uid, PodState& state, const k8s::Error& error);
  void end_pause(PodState& state);
  void retry_others(const std::string& namespace_);
  void make_ready(const std::string& uid, const PodState& state);
  void end_late_nomination(const k8s::Pod& pod, const PodState& state);

  k8s::EventLoop& loop_;
  Write write_;
  Options options_;
  Hooks hooks_;
  std::unordered_map<std::string, std::unique_ptr<PodState>> pods_;   // by uid
  std::unordered_map<std::string, LateNomination> late_nominations_;  // by uid, of shown pods
  k8s::CallQueue<std::string> queue_;  // uids with something to write; forgotten ones are skipped
  std::size_t retrying_ = 0;
  // Namespace and uid of the pods that wait for their next try because the last one failed.
  std::set<std::pair<std::string, std::string>> failed_;
  std::uint64_t seen_ = 0;  // seeds the jitter of each
  bool ending_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
