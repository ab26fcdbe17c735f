// Keeps the status of each GpuQuota equal to the engine's account.
//
// It writes the difference between the engine's account and the status that the watch shows. So a
// change by any other writer (an earlier leader, another scheduler, a person) is corrected, and a
// status that is correct already is not written. Each write names the version that it is based on.
// If the object has changed meanwhile, the server refuses (409), and it is tried again from what
// the watch shows then.
//
// An object is written at most once in `interval`, one write at a time, and few objects at a time,
// because a change of the cluster can affect thousands of quotas. Writes wait behind binds: while
// some wait, two go out at a time, so that one that hangs does not hold the others up; those that
// were sent before do not count. Only the objects that want() names are written: a standby's engine
// reports nothing, so its replica writes nothing. On the event loop's thread.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/back_off.h"
#include "k8s-client/call_queue.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/engine/engine.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sched::live {

class QuotaStatusWriter {
 public:
  // k8s::Client::set_gpu_quota_status.
  using Write = std::function<void(const k8s::ObjectMeta&, const k8s::GpuQuota::Status&,
                                   std::function<void(k8s::Result<void>)>)>;
  struct Options {
    std::size_t max_open = 4;
    std::chrono::milliseconds interval{1'000};
    // After writes that fail; not less than the interval.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(1'000)};
  };
  struct Hooks {
    // Wall-clock time, for transition times.
    std::function<k8s::Timestamp()> wall_clock;
    // True while binds wait that statuses must not delay.
    std::function<bool()> binds_wait;
    // A write failed, other than by a conflict or because the object is gone.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // The server has answered properly: with one of these, or a write succeeded.
    std::function<void()> on_answered = [] {};
  };

  QuotaStatusWriter(k8s::EventLoop& loop, Write write, Options options, Hooks hooks);
  ~QuotaStatusWriter();
  QuotaStatusWriter(const QuotaStatusWriter&) = delete;
  QuotaStatusWriter& operator=(const QuotaStatusWriter&) = delete;

  // The watch shows the object.
  void observed(const k8s::GpuQuota& quota);
  // The watch shows that the object is gone.
  void forget(const std::string& uid);

  // The status that each should have from now on; objects that are not named stay as they are.
  void want(const std::vector<QuotaStatus>& statuses);

  // Call it when binds_wait may have become false.
  void resume() { send_more(); }
  // Ends all writes.
  void stop() { stopped_ = true; }

 private:
  struct State;

  void consider(const std::string& uid, State& state);
  [[nodiscard]] static bool is_due(const State& state);
  void send_more();
  [[nodiscard]] std::optional<std::string> take();
  void send(const std::string& uid, State& state);
  [[nodiscard]] std::chrono::milliseconds delay_after(State& state,
                                                      const k8s::Result<void>& result);
  void on_result(const std::string& uid, const k8s::Result<void>& result);
  void take_in(const std::string& uid, const k8s::Result<void>& result);

  k8s::EventLoop& loop_;
  Write write_;
  Options options_;
  Hooks hooks_;
  std::map<std::string, std::unique_ptr<State>> quotas_;  // by uid
  // Uids; looked at again when sent. Quotas have no namespace: each counts as one by itself.
  k8s::CallQueue<std::string> queue_;
  std::uint64_t seen_ = 0;  // seeds the jitter of each
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
