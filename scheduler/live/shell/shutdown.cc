#include "scheduler/live/shell/shutdown.h"

#include "scheduler/live/log.h"
#include "scheduler/live/shell/parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sched::live {

using std::chrono::milliseconds;

namespace {

// How often it is checked whether all writes are done.
constexpr milliseconds kPoll{20};

// The part of the reserve that remains for the events if giving the lease back is slow.
constexpr milliseconds kForEvents{500};

}  // namespace

Shutdown::Shutdown(k8s::EventLoop& loop, Options options, Parts parts)
    : loop_(loop), options_(options), parts_(std::move(parts)) {}

void Shutdown::begin() {
  end_ = loop_.now() + options_.limit;
  look();
}

void Shutdown::look() {
  parts_.go_on();
  const bool writing = parts_.writes_open() || parts_.statuses_open();
  if (!writing || left() <= options_.reserve) return end_writes();
  next_look_ = loop_.after(kPoll, [this] { look(); });
}

void Shutdown::end_writes() {
  if (!parts_.release || parts_.writes_open()) return flush();
  parts_.release(std::max(left() - kForEvents, kPoll), [this] { flush(); });
}

void Shutdown::flush() { parts_.flush_events(std::max(left(), kPoll), parts_.on_done); }

milliseconds Shutdown::left() const {
  return std::chrono::duration_cast<milliseconds>(end_ - loop_.now());
}

// ---- the shell's

void Shell::Parts::shut_down(const std::string& reason) {
  loop_->post([this, reason] {
    if (!std::exchange(shutting_down_, true)) begin_shutdown(reason);
  });
}

void Shell::Parts::begin_shutdown(const std::string& reason) {
  LogLine("shutting down")
      .with("reason", reason)
      .with("binds_in_flight", binder_->in_flight())
      .with("writes_in_flight", open_before_binds())
      .with("binds_dropped", binder_->waiting())
      .info();
  quota_statuses_->stop();
  quota_memory_->stop();
  intake_->stop();
  engine_->stop();
  binder_->drop_waiting();
  preparer_->stop();
  evictor_->stop();
  statuses_->repeat_nothing();
  shutdown_ = std::make_unique<Shutdown>(*loop_, Shutdown::Options{}, shutdown_parts());
  shutdown_->begin();
}

std::size_t Shell::Parts::open_before_binds() const { return preparer_->open() + evictor_->open(); }

Shutdown::Parts Shell::Parts::shutdown_parts() {
  Shutdown::Parts parts{
      .writes_open = [this] { return binder_->in_flight() > 0 || open_before_binds() > 0; },
      .statuses_open = [this] { return !statuses_->is_idle(); },
      .go_on = [this] { tell_what_waits(); },
      .release = {},
      .flush_events = [this](milliseconds limit,
                             auto done) { events_->flush(limit, std::move(done)); },
      .on_done =
          [this] {
            LogLine("stopped")
                .with("binds_unsettled", binder_->in_flight())
                .with("writes_unsettled", open_before_binds())
                .with("events_dropped", events_->counters().dropped)
                .info();
            loop_->stop();
          }};
  if (leadership_) {
    parts.release = [this](milliseconds limit, auto done) {
      leadership_->release(limit, std::move(done));
    };
  } else {
    parts.release = [this](milliseconds limit, auto done) {
      store_mark_->give_back(limit, std::move(done));
    };
  }
  return parts;
}

// Another process may bind soon, so nothing more is sent, not even decisions that were made.
void Shell::Parts::on_lost() {
  end_ = End::kLost;
  quota_statuses_->stop();
  quota_memory_->stop();
  intake_->stop();
  engine_->stop();
  loop_->stop();
}

}  // namespace sched::live
