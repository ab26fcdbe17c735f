#include "scheduler/live/event_queue.h"

#include <utility>

namespace sched::live {

void EventQueue::push(Event event, Haste haste) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return;
    events_.push_back(std::move(event));
    has_events_.store(true, std::memory_order_release);
    if (told_ || !wakes(haste, waits_until_, Clock::now())) return;
    told_ = true;
  }
  changed_.notify_one();
}

void EventQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void EventQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

std::vector<Event> EventQueue::take(std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] {
    return !events_.empty() || woken_ || closed_.load(std::memory_order_relaxed);
  };
  if (limit) {
    waits_until_ = Clock::now() + *limit;
    changed_.wait_until(lock, *waits_until_, ready);
    waits_until_.reset();
  } else {
    changed_.wait(lock, ready);
  }
  has_events_.store(false, std::memory_order_release);
  woken_ = false;
  told_ = false;
  return std::exchange(events_, {});
}

}  // namespace sched::live
