#include "k8s-client/http/event_loop.h"

#include "k8s-client/http/base/boost_asio.h"

#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace k8s::http {
namespace {

// A wait that has expired can no longer be cancelled, even if its handler has not run yet. So the
// task is stored apart from the Timer; the Timer's destructor empties it.
class PendingTask final : public Timer {
 public:
  PendingTask(asio::io_context& context, EventLoop::Clock::duration delay,
              std::function<void()> task)
      : state_(std::make_shared<State>(context, std::move(task))) {
    state_->timer.expires_after(delay);
    state_->timer.async_wait([state = state_](const ErrorCode&) {
      if (const auto due = std::exchange(state->task, nullptr)) due();
    });
  }

  PendingTask(const PendingTask&) = delete;
  PendingTask& operator=(const PendingTask&) = delete;

  ~PendingTask() override {
    state_->task = nullptr;
    state_->timer.cancel();
  }

 private:
  struct State {
    State(asio::io_context& context, std::function<void()> due)
        : timer(context), task(std::move(due)) {}
    AsioTimer timer;
    std::function<void()> task;
  };
  std::shared_ptr<State> state_;
};

class SteadyLoop final : public EventLoop {
 public:
  void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }
  std::unique_ptr<Timer> after(Clock::duration delay, std::function<void()> task) override {
    return std::make_unique<PendingTask>(context_, delay, std::move(task));
  }
  [[nodiscard]] Clock::time_point now() const override { return Clock::now(); }
  // May be called again after it returned; a stop() before it makes it return at once.
  void run() override {
    context_.run();
    context_.restart();
  }
  void stop() override { context_.stop(); }
  [[nodiscard]] asio::io_context& context() override { return context_; }

 private:
  // 1: the hint that a single thread runs the loop, which saves wake-ups between threads. Posting
  // from other threads stays safe.
  asio::io_context context_{1};
  // Keeps run() from returning when nothing is pending.
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
};

}  // namespace
}  // namespace k8s::http

namespace k8s {

std::unique_ptr<EventLoop> make_event_loop() { return std::make_unique<http::SteadyLoop>(); }

}  // namespace k8s
