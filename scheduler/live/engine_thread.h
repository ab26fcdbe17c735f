// The engine's thread: the only one that touches cluster state.
//
// It applies all events that wait, then asks for decisions until there are none or until new events
// wait, hands the decisions out, and sleeps until an event comes or the engine wants to be asked
// again. It decides ahead of the binds only so far: with `max_open_binds` outcomes open it waits
// for some, so that what is decided rests on a cluster not long gone, and a shutdown has little to
// drop. Binds whose outcome is unknown for a while do not count: those of one namespace must not
// keep all others from being decided.
//
// After each round it may answer one question (questions/question_queue.h). What it knows leaves it
// otherwise only as the hooks have it: the figures for metrics are handed out after each round, so
// that a scrape shows the last ones even where this thread hangs.
//
// Time is told to the engine by this thread's clock, which never goes backwards.
#pragma once

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
  std::chrono::nanoseconds duration{};  // what deciding it took
  std::uint64_t number = 0;             // 1, 2, … over all decisions of the process
};

class EngineThread {
 public:
  struct Hooks {
    // Called on the engine's thread with what was decided since the last call, never empty.
    std::function<void(std::vector<Decided>)> on_decisions;
    // How many pods wait, and where, after each round; on the engine's thread, as all of these.
    std::function<void(const PendingPods&)> on_pending;
    // The accounts of all quotas when Synced has been applied; then of those that may have changed,
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
  void push(Event event);
  // Has the question answered, between two rounds; refused until Synced has been applied. What
  // comes of it is in no recording. Thread-safe.
  void ask(Question question);
  // So many of the open binds are set aside until their outcome is certain (writes/binder.h).
  // Thread-safe.
  void set_aside(std::size_t binds);
  // How long the event, decision or question at hand has taken so far, or what waits has waited for
  // the thread to wake; zero while there is nothing to do, and once it was stopped. Thread-safe.
  [[nodiscard]] std::chrono::nanoseconds working_for(Heartbeat::Clock::time_point now) const {
    return heartbeat_.working_for(now);
  }
  // Decides and answers nothing more; returns when the thread has ended.
  void stop();

 private:
  void run();
  std::vector<Event> take(std::optional<std::chrono::nanoseconds> limit);
  void apply(std::vector<Event> events);
  // Decides until there is nothing to decide, events wait, or too many binds are open. True if the
  // engine may have more to say.
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
  std::uint64_t decisions_ = 0;            // ever
  std::atomic<std::size_t> set_aside_{0};  // of them; for a moment too few, when one has ended
  Time last_now_{};
  bool synced_ = false;
  std::optional<std::uint64_t> quotas_told_;  // their version; nullopt: never
  std::chrono::steady_clock::time_point quotas_due_{};
  Heartbeat heartbeat_;  // beats after each event, decision and question
  EventQueue queue_;
  QuestionQueue questions_;
  std::thread thread_;
};

// Wall-clock time at the start plus what a steady clock counted since: steps of the system's clock
// never reach the engine.
[[nodiscard]] std::function<Time()> steady_wall_clock();

}  // namespace sched::live
