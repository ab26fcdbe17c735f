// The memory of GpuQuotas for a new process: a ConfigMap with an entry for each quota, with the
// namespaces that it selects and, if it is deleted, since when.
//
// A deleted quota keeps its namespaces closed for a while (quota::Ledger::erase). Its object is
// gone then, so a process that starts meanwhile, or after a deletion while no process ran, would
// not find it. The process that schedules writes the entries, and reads them before its first
// decision. A finalizer would work, too, but would block deletions while no process schedules.
//
// If the ConfigMap does not exist yet, or the scheduler has no right to read it (403), nothing is
// remembered. A server that has just started answers 403, too, until it has read its roles. So a
// 403 counts only when it has lasted for `refused_after`. After any other failure the read is
// repeated until there is an answer. Each write names the version that was read; if the object has
// been written elsewhere meanwhile, it is read again. On the event loop's thread.
#pragma once

#include "k8s-client/api/config_map.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/back_off.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sched::live {

class QuotaMemory {
 public:
  // The calls that it needs: of a k8s::Client, or a script in tests.
  struct Calls {
    using Done = std::function<void(k8s::Result<k8s::ConfigMap>)>;
    std::function<void(Done)> get;
    std::function<void(const k8s::StringMap& data, Done)> create;
    std::function<void(const k8s::ConfigMap&, Done)> update;
  };
  struct Options {
    std::chrono::milliseconds interval{1'000};  // the least time between two writes
    k8s::BackOffOptions back_off = {.first = std::chrono::milliseconds(1'000)};
    std::chrono::milliseconds refused_after{30'000};  // see above
  };
  struct Hooks {
    // A call failed; `retry_in` zero: it is not tried again.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
    std::function<void()> on_answered = [] {};
  };

  QuotaMemory(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks);
  ~QuotaMemory() { *alive_ = false; }
  QuotaMemory(const QuotaMemory&) = delete;
  QuotaMemory& operator=(const QuotaMemory&) = delete;

  // The remembered quotas, when there is an answer: names, selections and times, no lines. An entry
  // that cannot be read is left out. Called once, before want().
  void read(std::function<void(std::vector<k8s::GpuQuota>)> done);
  // What to remember from now on. If it does not fit into an object, deleted quotas come first.
  void want(const std::vector<k8s::GpuQuota>& quotas);
  // Ends all calls.
  void stop() { stopped_ = true; }

 private:
  using Then = std::function<void()>;
  void get(Then then);
  void on_got(k8s::Result<k8s::ConfigMap> answer, const Then& then);
  void on_refused(const k8s::Error& error, const Then& then);
  // Whether the server has what is wanted.
  [[nodiscard]] bool is_written() const;
  void write();
  void on_written(k8s::Result<k8s::ConfigMap> answer);
  void pause(std::chrono::milliseconds delay, Then then);
  void retry(const k8s::Error& error, Then then);

  k8s::EventLoop& loop_;
  Calls calls_;
  Options options_;
  Hooks hooks_;
  k8s::BackOff back_off_;
  std::optional<k8s::ConfigMap> there_;  // as the server has it; nullopt: it does not exist
  std::optional<k8s::StringMap> wanted_;
  // Since when reads were refused (403), without a proper answer in between.
  std::optional<k8s::EventLoop::Clock::time_point> refused_since_;
  bool busy_ = false;  // a call is under way, or a pause
  bool stopped_ = false;
  std::unique_ptr<k8s::Timer> pause_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sched::live
