// The engine's thread: the only one that accesses the cluster state.
//
// It applies all waiting events, then asks for decisions until there are none or new events wait,
// passes the decisions on, and sleeps until an event comes or until the engine's next wake-up. It
// decides only so far ahead of the binds: with `max_open_binds` outcomes open it waits for some of
// them. So decisions are based on a recent cluster state, and a shutdown has little to drop. Binds
// with an outcome that stays unknown do not count, so that those of one namespace do not stop all
// other decisions.
//
// After each round it may answer one question (questions/question_queue.h). Otherwise its state
// leaves it only through the hooks: the figures for metrics are passed on after each round, so that
// a scrape shows the last ones even if this thread hangs.
//
// The engine gets its time from this thread's clock, which never goes backwards.
#pragma once

#include "k8s-client/boot_clock.h"
#include "scheduler/engine/engine.h"
#include "scheduler/live/event_queue.h"
#include "scheduler/live/heartbeat.h"
#include "scheduler/live/questions/question_queue.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace sched::live {

class FlightRecorder;
class Recorder;

struct Decided {
  Decision decision;
  std::chrono::nanoseconds duration{};  // how long deciding took
  std::uint64_t number = 0;             // 1, 2, … over all decisions of the process
};

class EngineThread {
 public:
  struct Hooks {
    // Called on the engine's thread with the decisions since the last call, never empty.
    std::function<void(std::vector<Decided>)> on_decisions;
    // How many pods wait in each place, after each round. All hooks are called on the engine's
    // thread.
    std::function<void(const PendingPods&)> on_pending;
    std::function<void(const QueueEntries&)> on_queue_entries = [](const QueueEntries&) {};
    // The accounts of all quotas when Synced has been applied; later those that may have changed,
    // at most once in `quota_interval`.
    std::function<void(QuotaNews)> on_quotas = [](auto&&) {};
    // After each round.
    std::function<void(const GpuFigures&)> on_gpu_figures = [](const GpuFigures&) {};
    std::function<Time()> clock;
    // May be nullptr; otherwise it must outlive the thread.
    FlightRecorder* flight_recorder = nullptr;
  };

  // `recorder` may be nullptr; otherwise it must outlive the thread.
  EngineThread(Engine engine, Hooks hooks, Recorder* recorder, std::size_t max_open_binds = 512,
               std::chrono::milliseconds quota_interval = std::chrono::seconds{1});
  ~EngineThread();  // stops
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  void start();
  // Thread-safe.
  void push(Event event, Haste haste = Haste::kNow);
  // Puts a question, which is answered between two rounds; refused until Synced has been applied.
  // It has no effect on recordings. Thread-safe.
  void ask(Question question);
  // How many of the open binds are set aside until their outcome is certain (writes/binder.h).
  // Thread-safe.
  void set_aside(std::size_t binds);
  // How long the present event, decision or question has taken so far, or how long something has
  // waited for the thread to wake. Zero while there is nothing to do, and after stop().
  // Thread-safe.
  [[nodiscard]] std::chrono::nanoseconds working_for(Heartbeat::Clock::time_point now) const {
    return heartbeat_.working_for(now);
  }
  // Ends all decisions and answers; returns when the thread has ended.
  void stop();

 private:
  void run();
  std::vector<Event> take(std::optional<std::chrono::nanoseconds> limit);
  void apply(std::vector<Event> events);
  // Decides until there is nothing to decide, events wait, or too many binds are open. True if the
  // engine may have more decisions.
  bool decide();
  void answer_one();
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool quotas_changed() const;
  void tell_quotas();
  [[nodiscard]] Time now();
  [[nodiscard]] std::optional<std::chrono::nanoseconds> until_wakeup();

  Engine engine_;
  Hooks hooks_;
  Recorder* recorder_;
  std::size_t max_open_binds_;
  std::chrono::milliseconds quota_interval_;
  std::size_t open_binds_ = 0;             // decided, outcome not yet applied
  bool expects_outcomes_ = false;          // of binds decided in the last round
  std::uint64_t decisions_ = 0;            // of the process
  std::atomic<std::size_t> set_aside_{0};  // of open_binds_; briefly too low after one ended
  Time last_now_{};
  bool synced_ = false;
  std::optional<std::uint64_t> quotas_told_;  // their version; nullopt: not reported yet
  std::chrono::steady_clock::time_point quotas_due_{};
  Heartbeat heartbeat_;  // beats after each event, decision and question
  EventQueue queue_;
  QuestionQueue questions_;
  std::thread thread_;
};

// `now`, the wall-clock time, plus the time that passes from this call on, also while the machine
// is suspended. So steps of the system's clock never reach the engine.
[[nodiscard]] std::function<Time()> steady_wall_clock(
    Time now, std::function<k8s::BootClock::time_point()> boot_clock = k8s::BootClock::now);

}  // namespace sched::live
