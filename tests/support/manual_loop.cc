#include "tests/support/manual_loop.h"

#include "k8s-client/http/base/boost_asio.h"

#include <algorithm>
#include <utility>

namespace tests {

class ManualLoop::PendingTimer final : public k8s::Timer {
 public:
  PendingTimer(std::shared_ptr<Timers> timers, Clock::time_point due, std::function<void()> task)
      : timers_(std::move(timers)), alive_(std::make_shared<bool>(true)) {
    // The entry is removed when it runs, so the iterator may only be used while `alive_`.
    entry_ = timers_->emplace(due, [alive = alive_, task = std::move(task)] {
      *alive = false;
      task();
    });
  }
  PendingTimer(const PendingTimer&) = delete;
  PendingTimer& operator=(const PendingTimer&) = delete;
  ~PendingTimer() override {
    if (*alive_) timers_->erase(entry_);
  }

 private:
  std::shared_ptr<Timers> timers_;
  std::shared_ptr<bool> alive_;  // the task has not run yet
  Timers::iterator entry_;
};

// Not the clock's epoch, which stands for "never" in places.
ManualLoop::ManualLoop()
    : now_(std::chrono::hours{1000}),
      timers_(std::make_shared<Timers>()),
      context_(std::make_unique<boost::asio::io_context>()) {}

ManualLoop::~ManualLoop() = default;

void ManualLoop::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(task));
}

std::unique_ptr<k8s::Timer> ManualLoop::after(Clock::duration delay, std::function<void()> task) {
  return std::make_unique<PendingTimer>(timers_, now() + delay, std::move(task));
}

k8s::EventLoop::Clock::time_point ManualLoop::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

void ManualLoop::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

void ManualLoop::run() {
  const auto stopped = [this] {
    const std::lock_guard lock(mutex_);
    return stopped_;
  };
  while (!stopped() && (run_one() || advance_to_next_timer())) {
  }
  const std::lock_guard lock(mutex_);
  stopped_ = false;
}

bool ManualLoop::run_one() {
  std::function<void()> task;
  {
    const std::lock_guard lock(mutex_);
    if (!posted_.empty()) {
      task = std::move(posted_.front());
      posted_.pop_front();
    } else if (!timers_->empty() && timers_->begin()->first <= now_) {
      task = std::move(timers_->begin()->second);
      timers_->erase(timers_->begin());
    }
  }
  if (task) {
    task();
    return true;
  }
  context_->restart();
  return context_->poll_one() > 0;
}

void ManualLoop::run_ready() {
  while (run_one()) {
  }
}

void ManualLoop::advance(Clock::duration delta) {
  const Clock::time_point until = now() + delta;
  run_ready();
  while (!timers_->empty() && timers_->begin()->first <= until) advance_to_next_timer();
  const std::lock_guard lock(mutex_);
  now_ = until;
}

std::optional<k8s::EventLoop::Clock::duration> ManualLoop::next_timer() const {
  if (timers_->empty()) return std::nullopt;
  return timers_->begin()->first - now();
}

bool ManualLoop::advance_to_next_timer() {
  if (timers_->empty()) return false;
  {
    const std::lock_guard lock(mutex_);
    now_ = std::max(now_, timers_->begin()->first);
  }
  run_ready();
  return true;
}

}  // namespace tests
