// How the shell ends.
#include "scheduler/live/log.h"
#include "scheduler/live/shell/parts.h"

#include <algorithm>
#include <utility>

namespace sched::live {

using std::chrono::milliseconds;

namespace {

// How often a shutdown looks whether it is done.
constexpr milliseconds kShutdownPoll{20};

}  // namespace

void Shell::Parts::shut_down(const std::string& reason) {
  loop_->post([this, reason] {
    if (!std::exchange(shutting_down_, true)) begin_shutdown(reason);
  });
}

void Shell::Parts::begin_shutdown(const std::string& reason) {
  LogLine("shutting down")
      .with("reason", reason)
      .with("binds_in_flight", binder_->in_flight())
      .with("binds_dropped", binder_->waiting())
      .info();
  shutdown_end_ = loop_->now() + options_.shutdown_limit;
  quota_statuses_->stop();
  intake_->stop();
  engine_->stop();
  binder_->drop_waiting();
  continue_shutdown();
}

void Shell::Parts::continue_shutdown() {
  tell_what_waits();
  const auto left = shutdown_end_ - loop_->now();
  const bool writing = binder_->in_flight() > 0 || !statuses_->is_idle();
  if (writing && left > kShutdownPoll) {
    shutdown_timer_ = loop_->after(kShutdownPoll, [this] { continue_shutdown(); });
    return;
  }
  if (!leadership_ || binder_->in_flight() > 0) return finish_shutdown();
  const auto limit = std::max(std::chrono::duration_cast<milliseconds>(left), kShutdownPoll);
  leadership_->release(limit, [this] { finish_shutdown(); });
}

void Shell::Parts::finish_shutdown() {
  const auto left = shutdown_end_ - loop_->now();
  const auto limit = std::max(std::chrono::duration_cast<milliseconds>(left), kShutdownPoll);
  events_->flush(limit, [this] {
    LogLine("stopped")
        .with("binds_unsettled", binder_->in_flight())
        .with("events_dropped", events_->counters().dropped)
        .info();
    loop_->stop();
  });
}

// Another one may bind soon: not even what is decided may be told any more.
void Shell::Parts::on_leadership_lost() {
  end_ = End::kLeadershipLost;
  quota_statuses_->stop();
  intake_->stop();
  engine_->stop();
  loop_->stop();
}

}  // namespace sched::live
