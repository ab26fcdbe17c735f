// The one thread on which all I/O of a client happens.
//
// Everything of k8s-client that waits (connections, timers, watches) runs on this loop, so none of
// it needs locks: callbacks are called on the loop's thread, one at a time. Only `post`, `stop` and
// `now` may be called from other threads.
//
// It is an io_context of Boost.Asio, on which sockets and pipes are opened, and a clock for timers,
// which tests replace with one that they set themselves.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace k8s {

// A pending timer; destroying it cancels the timer. Must be destroyed on the loop's thread, also
// from within its own task.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;
};

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;

  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  virtual ~EventLoop() = default;

  // Runs `task` on the loop's thread, after what was posted before it. Thread-safe.
  virtual void post(std::function<void()> task) = 0;

  // Runs `task` once, `delay` from now, unless the returned timer is destroyed first.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Clock::duration delay,
                                                     std::function<void()> task) = 0;

  [[nodiscard]] virtual Clock::time_point now() const = 0;

  // Runs until stop(). The calling thread is the loop's thread from then on.
  virtual void run() = 0;

  // Makes run() return after the callback in progress. Thread-safe.
  virtual void stop() = 0;

  // For code that does I/O: run() completes what is started on it.
  [[nodiscard]] virtual boost::asio::io_context& context() = 0;
};

// With the steady clock.
[[nodiscard]] std::unique_ptr<EventLoop> make_event_loop();

}  // namespace k8s
