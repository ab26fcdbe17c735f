// Keeps the events and the decisions of the engine of the last hour, all the time.
//
// It may always be on, because it costs the engine's thread little: a few words for each call,
// which say what was called and when. The events are copied where they are pushed, and the
// decisions where they are carried out, both on the event loop's thread. A thread of low priority
// puts the three together, turns them into text and packs them (recording_ring.h).
//
// What waits for that thread is bounded. Beyond the bound an event or a decision is not kept; the
// recording says in its place how many are missing, and goes on.
//
// It does not keep all calls since the start; --record does (recorder.h).
#pragma once

#include "scheduler/live/event_queue.h"
#include "scheduler/live/record/record.h"
#include "scheduler/live/record/recording_ring.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sched::live {

class FlightRecorder {
 public:
  struct Options {
    RecordingRing::Limits limits = {};
    // How many events, and how many decisions, may wait for the thread.
    std::size_t most_waiting = 20'000;
  };
  struct Figures {
    bool is_recording = true;  // false: it gave up, see RecordingRing::is_keeping()
    std::size_t bytes = 0;
    std::chrono::microseconds span{};
    std::uint64_t lost = 0;  // calls, ever
  };

  // `on_end` is called at most once, on the recorder's thread, when it gives up.
  FlightRecorder(RecordHeader header, Options options, std::function<void()> on_end);
  ~FlightRecorder();  // stops
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Puts the event into the engine's queue, and keeps a copy, both in one order. Thread-safe.
  void push(Event event, Haste haste, EventQueue& queue);
  // What step() returned, in the order of the calls; may come before or after stepped(). From one
  // thread.
  void decided(const Decision& decision);

  // The engine's thread: apply() was called with the next event that was pushed.
  void applied(Time at) { round_.push_back({at, Called::kApply}); }
  // step() was called.
  void stepped(bool decided, Time at) {
    round_.push_back({at, decided ? Called::kDecided : Called::kNothingToDecide});
  }
  // What has been called since the last time may be written.
  void end_round();

  // Calls `done` with the recording as of now, on the recorder's thread; with nothing if it was
  // stopped or has given up. Thread-safe.
  using Done = std::function<void(RecordingParts)>;
  void take(Done done);
  [[nodiscard]] Figures figures() const;  // thread-safe

  // Returns when its thread has ended; what is open is answered with nothing.
  void stop();

 private:
  enum class Called : std::uint8_t { kApply, kDecided, kNothingToDecide };
  struct Call {
    Time at{};
    Called what{};
  };
  // What waits, in order. nullptr: it was not kept.
  struct Waiting {
    std::deque<Call> calls;
    std::deque<std::unique_ptr<Event>> events;
    std::deque<std::unique_ptr<Decision>> decisions;
    void take_over(Waiting& more);
  };

  void run();
  // Turns into lines what is complete: calls with what they were about.
  void write();
  void write(const Call& call);
  void tell_lost();
  void publish_figures();

  const std::size_t most_waiting_;
  std::function<void()> on_end_;
  std::vector<Call> round_;  // the engine's thread's

  mutable std::mutex mutex_;  // guards what follows, up to stopping_
  std::condition_variable changed_;
  Waiting waiting_;
  std::size_t events_in_work_ = 0;  // of ready_; at most so many
  std::size_t decisions_in_work_ = 0;
  std::vector<Done> takers_;
  bool stopping_ = false;

  std::atomic<bool> recording_{true};
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::int64_t> span_{0};  // microseconds
  std::atomic<std::uint64_t> all_lost_{0};

  // The recorder's thread's.
  RecordingRing ring_;
  Waiting ready_;
  LostCalls lost_;  // since the last line
  std::thread thread_;
};

}  // namespace sched::live
