// Distinguishes a thread that works from one that hangs or has ended.
//
// The thread calls beat() whenever a piece of work is done, and rest() before it waits for more. A
// caller that gives it work calls wake(). working_for() is how long the present piece has taken
// already, or has waited untouched: so both an endless loop and a missed wake-up show.
#pragma once

#include <atomic>
#include <chrono>

namespace sched::live {

// Thread-safe.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  // Called by the thread: a piece of work is done and the next one begins.
  void beat(Clock::time_point now) { since_.store(count(now), std::memory_order_relaxed); }
  // Called by the thread: it waits for work.
  void rest() { since_.store(kAtRest, std::memory_order_relaxed); }
  // When the thread has ended as requested: no work is expected any more.
  void end() { since_.store(kEnded, std::memory_order_relaxed); }
  // Called by the thread that gives it work: from now on time counts. Cheap while the thread works.
  void wake() {
    if (since_.load(std::memory_order_relaxed) != kAtRest) return;
    Clock::rep expected = kAtRest;
    since_.compare_exchange_strong(expected, count(Clock::now()), std::memory_order_relaxed);
  }

  // How long there has been work and no beat, at `now`; zero at rest and after the end.
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
