// Tells a thread that works from one that hangs or is gone.
//
// The thread beats whenever a piece of work is done, and rests while it waits for more; who gives
// it something to do says so. What is asked is how long the present piece has taken already, or has
// lain there untouched: both an endless loop and a wake-up that never came show.
#pragma once

#include <atomic>
#include <chrono>

namespace sched::live {

// Thread-safe.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  // By the thread: a piece of work is done and the next one begins.
  void beat(Clock::time_point now) { since_.store(count(now), std::memory_order_relaxed); }
  // By the thread: it waits for something to do.
  void rest() { since_.store(kAtRest, std::memory_order_relaxed); }
  // When the thread has ended as it was told to: nothing is waited for any more.
  void end() { since_.store(kEnded, std::memory_order_relaxed); }
  // By who gives it something to do: from now on it is waited for. Cheap while the thread works.
  void wake() {
    if (since_.load(std::memory_order_relaxed) != kAtRest) return;
    Clock::rep expected = kAtRest;
    since_.compare_exchange_strong(expected, count(Clock::now()), std::memory_order_relaxed);
  }

  // Since when there has been work and no beat, as of `now`; zero at rest and after the end.
  [[nodiscard]] Clock::duration working_for(Clock::time_point now) const {
    const Clock::rep since = since_.load(std::memory_order_relaxed);
    return since == kAtRest || since == kEnded ? Clock::duration::zero()
                                               : now.time_since_epoch() - Clock::duration(since);
  }

 private:
  static constexpr Clock::rep kAtRest = -1;
  static constexpr Clock::rep kEnded = -2;
  static Clock::rep count(Clock::time_point at) { return at.time_since_epoch().count(); }

  std::atomic<Clock::rep> since_{kAtRest};
};

}  // namespace sched::live
