#include "scheduler/live/event_queue.h"

#include <utility>

namespace sched::live {

void EventQueue::push(Event event) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return;
    was_empty = events_.empty();
    events_.push_back(std::move(event));
    has_events_.store(true, std::memory_order_release);
  }
  if (was_empty) changed_.notify_one();
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
    changed_.wait_for(lock, *limit, ready);
  } else {
    changed_.wait(lock, ready);
  }
  has_events_.store(false, std::memory_order_release);
  woken_ = false;
  return std::exchange(events_, {});
}

}  // namespace sched::live
