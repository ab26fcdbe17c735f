#include "scheduler/live/record/flight_recorder.h"

#include "scheduler/live/thread_name.h"

#include <sys/resource.h>

#include <iterator>
#include <utility>

namespace sched::live {

namespace {

constexpr int kRecorderNice = 10;  // as of nice(1)
// Beyond this many calls the thread is woken before its second is over.
constexpr std::size_t kManyToPack = 4'096;

template <typename T>
void append(std::deque<T>& to, std::deque<T>& more) {
  if (to.empty()) return to.swap(more);
  to.insert(to.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  more.clear();
}

template <typename T>
std::unique_ptr<T> take_first(std::deque<std::unique_ptr<T>>& from) {
  auto first = std::move(from.front());
  from.pop_front();
  return first;
}

}  // namespace

void FlightRecorder::Waiting::take_over(Waiting& more) {
  append(calls, more.calls);
  append(events, more.events);
  append(decisions, more.decisions);
}

FlightRecorder::FlightRecorder(RecordHeader header, Options options, std::function<void()> on_end)
    : most_waiting_(options.most_waiting),
      on_end_(std::move(on_end)),
      ring_(std::move(header), options.limits),
      thread_([this] {
        name_this_thread("flight-recorder");
        run();
      }) {}

FlightRecorder::~FlightRecorder() { stop(); }

void FlightRecorder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void FlightRecorder::push(Event event, Haste haste, EventQueue& queue) {
  if (!recording_) return queue.push(std::move(event), haste);
  // Copied before the lock is taken. The copy is dropped if too many events wait, which is rare.
  auto copy = std::make_unique<Event>(event);
  const std::lock_guard lock(mutex_);
  if (waiting_.events.size() + events_in_work_ >= most_waiting_) copy.reset();
  waiting_.events.push_back(std::move(copy));
  queue.push(std::move(event), haste);
}

void FlightRecorder::decided(const Decision& decision) {
  if (!recording_) return;
  auto copy = std::make_unique<Decision>(decision);
  const std::lock_guard lock(mutex_);
  if (waiting_.decisions.size() + decisions_in_work_ >= most_waiting_) copy.reset();
  waiting_.decisions.push_back(std::move(copy));
}

void FlightRecorder::end_round() {
  if (round_.empty()) return;
  if (!recording_) return round_.clear();
  bool many = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.calls.insert(waiting_.calls.end(), round_.begin(), round_.end());
    many = waiting_.calls.size() >= kManyToPack;
  }
  round_.clear();
  if (many) changed_.notify_one();
}

void FlightRecorder::take(Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      takers_.push_back(std::move(done));
      done = nullptr;
    }
  }
  if (done) return done({});
  changed_.notify_one();
}

FlightRecorder::Figures FlightRecorder::figures() const {
  return {.is_recording = recording_,
          .bytes = bytes_,
          .span = std::chrono::microseconds(span_),
          .lost = all_lost_};
}

void FlightRecorder::run() {
  ::setpriority(PRIO_PROCESS, 0, kRecorderNice);  // of this thread alone
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, std::chrono::seconds(1), [this] {
      return stopping_ || !takers_.empty() || waiting_.calls.size() >= kManyToPack;
    });
    ready_.take_over(waiting_);
    events_in_work_ = ready_.events.size();
    decisions_in_work_ = ready_.decisions.size();
    const auto takers = std::exchange(takers_, {});
    const bool last = stopping_;
    lock.unlock();
    if (!last) write();
    lock.lock();
    events_in_work_ = ready_.events.size();
    decisions_in_work_ = ready_.decisions.size();
    lock.unlock();
    for (const Done& done : takers) {
      done(last || !ring_.is_keeping() ? RecordingParts{} : ring_.parts());
    }
    if (last) return;
    lock.lock();
  }
}

void FlightRecorder::write() {
  while (!ready_.calls.empty()) {
    const Call call = ready_.calls.front();
    if (call.what == Called::kApply && ready_.events.empty()) break;
    if (call.what == Called::kDecided && ready_.decisions.empty()) break;
    ready_.calls.pop_front();
    write(call);
  }
  publish_figures();
  if (ring_.is_keeping() || !recording_.exchange(false)) return;
  ready_ = {};
  on_end_();
}

void FlightRecorder::write(const Call& call) {
  std::optional<EngineCall> line;
  if (call.what == Called::kApply) {
    auto event = take_first(ready_.events);
    if (event == nullptr) {
      ++lost_.events;
    } else {
      line = AppliedCall{std::move(*event), call.at};
    }
  } else if (call.what == Called::kDecided) {
    auto decision = take_first(ready_.decisions);
    if (decision == nullptr) {
      ++lost_.decisions;
    } else {
      line = StepCall{std::move(*decision), call.at};
    }
  } else {
    line = StepCall{std::nullopt, call.at};
  }
  if (!line) {
    lost_.at = call.at;
    ++all_lost_;
    return;
  }
  tell_lost();
  ring_.add(*line);
}

void FlightRecorder::tell_lost() {
  if (lost_.events + lost_.decisions == 0) return;
  ring_.add(lost_);
  lost_ = {};
}

void FlightRecorder::publish_figures() {
  bytes_ = ring_.bytes();
  span_ = ring_.span().count();
}

}  // namespace sched::live
