// Keeps the status of each GpuQuota what the engine says it is.
//
// What is to be written is the difference between what the engine wants said and what the object
// carries, as the watch shows it; so whatever somebody else writes there, an earlier leader,
// another scheduler or a person, is put right, and nothing is written that is there already. Each
// write carries the version that it is based on. If the object has changed meanwhile the server
// refuses (409), and it is tried again from what the watch shows then.
//
// An object is written to at most once in `interval`, one write at a time, and few objects at a
// time: a change of the cluster can be news to thousands of quotas. Writes wait behind binds: while
// some wait, one goes out at a time. Only of what want() names is anything written: a standby's
// engine says nothing, so its replica writes nothing. On the event loop's thread.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/back_off.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/engine/engine.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
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
    // After writes that fail; not below the interval.
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(1'000)};
  };
  struct Hooks {
    // What time it is for people, for transition times.
    std::function<k8s::Timestamp()> wall_clock;
    // True while binds wait that statuses must not delay.
    std::function<bool()> binds_wait;
    // A write failed, other than by a conflict or because the object is gone.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    // The server has answered as it should: with one of these, or a write went through.
    std::function<void()> on_answered = [] {};
  };

  QuotaStatusWriter(k8s::EventLoop& loop, Write write, Options options, Hooks hooks);
  ~QuotaStatusWriter();
  QuotaStatusWriter(const QuotaStatusWriter&) = delete;
  QuotaStatusWriter& operator=(const QuotaStatusWriter&) = delete;

  // From the watch: the object as it is; one that is gone.
  void observed(const k8s::GpuQuota& quota);
  void forget(const std::string& uid);

  // What each should say from now on; those not named stay as they are.
  void want(const std::vector<QuotaStatus>& statuses);

  // To be called when binds_wait may have become false.
  void resume() { send_more(); }
  // Writes nothing more.
  void stop() { stopped_ = true; }

 private:
  struct State;

  void consider(const std::string& uid, State& state);
  [[nodiscard]] static bool is_due(const State& state);
  void send_more();
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
  std::deque<std::string> ready_;                         // uids; looked at again when sent
  std::size_t open_ = 0;                                  // writes
  std::uint64_t seen_ = 0;                                // seeds the jitter of each
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
