#include "scheduler/live/engine_thread.h"

#include "scheduler/live/record/flight_recorder.h"
#include "scheduler/live/record/recorder.h"
#include "scheduler/live/thread_name.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace sched::live {

namespace {

bool ends_a_bind(const Event& event) {
  return std::holds_alternative<event::BindSucceeded>(event) ||
         std::holds_alternative<event::BindFailed>(event);
}

}  // namespace

EngineThread::EngineThread(Engine engine, Hooks hooks, Recorder* recorder,
                           std::size_t max_open_binds, std::chrono::milliseconds quota_interval)
    : engine_(std::move(engine)),
      hooks_(std::move(hooks)),
      recorder_(recorder),
      max_open_binds_(max_open_binds),
      quota_interval_(quota_interval) {}

EngineThread::~EngineThread() { stop(); }

void EngineThread::start() {
  thread_ = std::thread([this] { run(); });
}

void EngineThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
  questions_.close();
  heartbeat_.end();  // later questions are refused, so nothing is waited for
}

void EngineThread::push(Event event, Haste haste) {
  heartbeat_.wake();
  if (hooks_.flight_recorder != nullptr) {
    hooks_.flight_recorder->push(std::move(event), haste, queue_);
  } else {
    queue_.push(std::move(event), haste);
  }
}

void EngineThread::ask(Question question) {
  questions_.push(std::move(question));
  heartbeat_.wake();
  queue_.wake();
}

void EngineThread::set_aside(std::size_t binds) {
  if (set_aside_.exchange(binds) >= binds) return;
  heartbeat_.wake();
  queue_.wake();
}

bool EngineThread::is_full() const { return open_binds_ >= max_open_binds_ + set_aside_.load(); }

void EngineThread::run() {
  name_this_thread("engine");
  bool more = false;
  while (!queue_.is_closed()) {
    auto events = take(more ? std::chrono::nanoseconds::zero() : until_wakeup());
    if (queue_.is_closed()) return;
    apply(std::move(events));
    more = decide();
    if (hooks_.flight_recorder != nullptr) hooks_.flight_recorder->end_round();
    hooks_.on_pending(engine_.pending());
    hooks_.on_queue_entries(engine_.queue_entries());
    tell_quotas();
    hooks_.on_gpu_figures(engine_.gpu_figures());
    answer_one();
  }
}

std::vector<Event> EngineThread::take(std::optional<std::chrono::nanoseconds> limit) {
  heartbeat_.rest();
  auto events = queue_.take(limit);
  heartbeat_.beat(Heartbeat::Clock::now());
  return events;
}

void EngineThread::apply(std::vector<Event> events) {
  for (Event& event : events) {
    const Time at = now();
    if (ends_a_bind(event) && open_binds_ > 0) --open_binds_;
    if (std::holds_alternative<event::Synced>(event)) synced_ = true;
    if (recorder_ != nullptr) recorder_->applied(event, at);
    if (hooks_.flight_recorder != nullptr) hooks_.flight_recorder->applied(at);
    engine_.apply(std::move(event), at);
    heartbeat_.beat(Heartbeat::Clock::now());
  }
}

bool EngineThread::decide() {
  // Limits a batch, so that a bind does not wait behind thousands of refusals.
  constexpr std::size_t kMaxBatch = 64;
  std::vector<Decided> decided;
  expects_outcomes_ = false;
  bool more = true;
  while (!is_full()) {
    const auto begin = Heartbeat::Clock::now();
    heartbeat_.beat(begin);
    const Time at = now();
    auto decision = engine_.step(at);
    if (recorder_ != nullptr) recorder_->stepped(decision, at);
    if (hooks_.flight_recorder != nullptr) {
      hooks_.flight_recorder->stepped(decision.has_value(), at);
    }
    if (!decision) {
      more = false;
      break;
    }
    if (std::holds_alternative<decision::Bind>(*decision)) {
      ++open_binds_;
      expects_outcomes_ = true;
    }
    decided.push_back({std::move(*decision), Heartbeat::Clock::now() - begin, ++decisions_});
    const bool enough = decided.size() >= kMaxBatch;
    if (enough || queue_.has_events() || queue_.is_closed()) break;
  }
  // A full window ends with an event; until then there is nothing to do.
  if (is_full()) more = false;
  if (!decided.empty()) hooks_.on_decisions(std::move(decided));
  return more;
}

void EngineThread::answer_one() {
  const auto begin = Heartbeat::Clock::now();
  const auto question = questions_.take(begin);
  if (!question) return;
  if (!synced_) return question->refuse(Unanswered::kNotDeciding);
  heartbeat_.beat(begin);
  question->answer(engine_);
  const auto end = Heartbeat::Clock::now();
  heartbeat_.beat(end);
  questions_.answered(begin, end);
}

bool EngineThread::quotas_changed() const {
  return synced_ && quotas_told_ != engine_.quota_version();
}

void EngineThread::tell_quotas() {
  const auto now = std::chrono::steady_clock::now();
  if (!quotas_changed() || now < quotas_due_) return;
  quotas_told_ = engine_.quota_version();
  quotas_due_ = now + quota_interval_;
  hooks_.on_quotas(engine_.take_quota_news());
}

Time EngineThread::now() {
  last_now_ = std::max(last_now_, hooks_.clock());
  return last_now_;
}

std::optional<std::chrono::nanoseconds> EngineThread::until_wakeup() {
  std::optional<std::chrono::nanoseconds> wait;
  const auto at_most = [&wait](std::chrono::nanoseconds until) {
    wait = wait ? std::min(*wait, until) : until;
  };
  if (quotas_changed()) at_most(quotas_due_ - std::chrono::steady_clock::now());
  if (const auto due = questions_.due()) at_most(*due - std::chrono::steady_clock::now());
  if (!is_full()) {
    if (const auto wakeup = engine_.next_wakeup()) at_most(*wakeup - now());
    // Outcomes that come by then wake no thread.
    if (expects_outcomes_) at_most(EventQueue::kSoon);
  }
  if (!wait) return std::nullopt;
  return std::max<std::chrono::nanoseconds>(*wait, std::chrono::milliseconds(1));
}

std::function<Time()> steady_wall_clock(Time now,
                                        std::function<k8s::BootClock::time_point()> boot_clock) {
  const auto begin = boot_clock();
  return [now, begin, boot_clock = std::move(boot_clock)] {
    return now + std::chrono::duration_cast<Time::duration>(boot_clock() - begin);
  };
}

}  // namespace sched::live
