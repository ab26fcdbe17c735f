// The queue of events from the I/O thread to the engine's thread: in order, taken in batches.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/live/haste.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

namespace sched::live {

// Any thread may push; one thread takes.
class EventQueue {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kSoon{20};

  void push(Event event, Haste haste = Haste::kNow);
  // Whether an event of that haste wakes a thread that waits until then; nullopt: without a limit.
  [[nodiscard]] static bool wakes(Haste haste, std::optional<Clock::time_point> waits_until,
                                  Clock::time_point now) {
    return haste == Haste::kNow || !waits_until || *waits_until > now + kSoon;
  }

  // Ends the waiting of take(). Events that are pushed afterwards are dropped.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_.load(std::memory_order_acquire); }

  // Makes the present take(), or the next one, return even if the queue is empty.
  void wake();

  // All queued events, oldest first. If there are none, it waits for an event that wakes it, for
  // `limit` to pass (nullopt: no limit), for wake() or for close(), and may then return nothing.
  [[nodiscard]] std::vector<Event> take(std::optional<std::chrono::nanoseconds> limit);

  // Cheap: whether take() would return events at once.
  [[nodiscard]] bool has_events() const { return has_events_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;  // guards events_, woken_, told_ and waits_until_
  std::condition_variable changed_;
  std::vector<Event> events_;
  bool woken_ = false;
  bool told_ = false;  // the taker was woken for one of events_
  std::optional<Clock::time_point> waits_until_;
  std::atomic<bool> has_events_{false};
  std::atomic<bool> closed_{false};
};

}  // namespace sched::live
