// An event loop; its time stands still until a test moves it.
//
// Nothing happens by itself: run_ready() runs what is due, advance() moves the clock and runs each
// timer at its time. A test of a minute of back-offs takes microseconds and is the same every time.
#pragma once

#include "k8s-client/http/event_loop.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace tests {

class ManualLoop final : public k8s::EventLoop {
 public:
  ManualLoop();
  ~ManualLoop() override;

  void post(std::function<void()> task) override;
  [[nodiscard]] std::unique_ptr<k8s::Timer> after(Clock::duration delay,
                                                  std::function<void()> task) override;
  [[nodiscard]] Clock::time_point now() const override;

  // Runs until stop(), jumping from timer to timer; returns too when nothing is left to happen.
  void run() override;
  void stop() override;
  // run_ready() runs what is ready there, too; it does not wait for what is not.
  [[nodiscard]] boost::asio::io_context& context() override { return *context_; }

  // Runs everything posted, what that posts in turn, and the timers that are due.
  void run_ready();

  // Moves the clock forward by `delta` and runs everything that happens on the way.
  void advance(Clock::duration delta);

  // How long until the next timer; nullopt: there is none.
  [[nodiscard]] std::optional<Clock::duration> next_timer() const;

  // Moves the clock to the next timer and runs it; false if there is none.
  bool advance_to_next_timer();

 private:
  class PendingTimer;
  // By time; timers of one time in the order they were made. Shared with the timers, which may be
  // destroyed after the loop.
  using Timers = std::multimap<Clock::time_point, std::function<void()>>;

  bool run_one();

  mutable std::mutex mutex_;  // post, stop and now come from any thread
  std::deque<std::function<void()>> posted_;
  Clock::time_point now_{};
  bool stopped_ = false;
  std::shared_ptr<Timers> timers_;
  std::unique_ptr<boost::asio::io_context> context_;
};

}  // namespace tests
