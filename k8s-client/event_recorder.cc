#include "k8s-client/event_recorder.h"

#include "k8s-client/call_queue.h"
#include "k8s-client/event_series.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace k8s {
namespace {

using Clock = EventLoop::Clock;

// One event and its repeats.
//
//   record ──▶ waiting ──▶ writing ──▶ idle ──repeat──▶ pausing ──interval──▶ waiting …
//
// `forgotten` is the end: given up, or idle for so long that a repetition is a new event.
enum class Stage { kWaiting, kWriting, kPausing, kIdle, kForgotten };

struct Series;
using SeriesPtr = std::shared_ptr<Series>;

struct Series {
  std::string key;
  EventObject event;
  Stage stage = Stage::kWaiting;
  std::int32_t occurrences = 1;
  std::int32_t written = 0;  // how many of them the server has
  bool created = false;
  bool perhaps_created = false;     // a create got no answer, or one that does not decide it
  int attempts = 0;                 // in a row without success
  std::uint64_t place_in_line = 0;  // smaller: waits since before
  Clock::time_point written_at{};
  Clock::time_point seen_at{};
  std::list<SeriesPtr>::iterator place;  // in Unwritten or, when kIdle, in `idle`
};

// The series that are waiting, writing or pausing, the oldest of each namespace first.
class Unwritten {
 public:
  void add(const SeriesPtr& series) {
    const std::string& namespace_ = series->event.namespace_;
    std::list<SeriesPtr>& its = of_[namespace_];
    series->place = its.insert(its.end(), series);
    set_size(namespace_, its.size() - 1, its.size());
  }
  void remove(const SeriesPtr& series) {
    const auto its = of_.find(series->event.namespace_);
    its->second.erase(series->place);
    const std::size_t left = its->second.size();
    set_size(its->first, left + 1, left);
    if (left == 0) of_.erase(its);
  }
  [[nodiscard]] bool is_empty() const { return of_.empty(); }
  [[nodiscard]] std::vector<SeriesPtr> all() const {
    std::vector<SeriesPtr> all;
    for (const auto& [namespace_, its] : of_) all.insert(all.end(), its.begin(), its.end());
    return all;
  }
  // The oldest that is not being written, of the namespace with the most; null: there is none. As a
  // rule O(1): few of a namespace are being written.
  [[nodiscard]] SeriesPtr oldest_of_most() const {
    for (auto most = sizes_.rbegin(); most != sizes_.rend(); ++most) {
      const std::list<SeriesPtr>& its = of_.at(most->second);
      const auto oldest = std::find_if(its.begin(), its.end(), [](const SeriesPtr& series) {
        return series->stage != Stage::kWriting;
      });
      if (oldest != its.end()) return *oldest;
    }
    return nullptr;
  }

 private:
  void set_size(const std::string& namespace_, std::size_t before, std::size_t now) {
    sizes_.erase({before, namespace_});
    if (now > 0) sizes_.emplace(now, namespace_);
  }

  std::map<std::string, std::list<SeriesPtr>> of_;       // none is empty
  std::set<std::pair<std::size_t, std::string>> sizes_;  // of these
};

// The back-off of a namespace, from a write that is to be repeated until one that is not.
struct Trouble {
  BackOff back_off;
  std::unique_ptr<Timer> pause;  // while it runs nothing of the namespace is sent
};
using Troubles = std::map<std::string, Trouble>;

// There are no credentials at present, so nothing was sent: a plugin fails, or a file is away.
bool lacks_credentials(const Error& error) { return error.kind == ErrorKind::kConfig; }

bool worth_repeating(const Error& error) {
  // 401: the next credentials may be valid.
  return error.is_passing() || error.is_status(401) || error.is_misrouted() ||
         lacks_credentials(error);
}

// Whether all writes fail, and not one alone: a webhook may hang until the deadline.
bool is_of_all(const Error& error) {
  return (error.got_no_answer() && error.kind != ErrorKind::kTimeout) || lacks_credentials(error);
}

// If writes fail in this many namespaces, and none succeeds in between, the server counts as the
// cause.
constexpr std::size_t kManyNamespaces = 4;

}  // namespace

struct EventRecorder::Parts : std::enable_shared_from_this<Parts> {
  Parts(Client& client_, EventLoop& loop_, Options options_, std::function<bool()> may_send_)
      : client(client_),
        loop(loop_),
        options(options_),
        may_send(std::move(may_send_)),
        back_off(options.seed, options.back_off),
        budget(options.budget) {}

  // ---- what is known

  void record(EventObject event) {
    make_acceptable(event, ++numbers);
    std::string key = series_key(event);
    forget_expired();
    if (const auto found = by_key.find(key); found != by_key.end()) {
      return repeat(found->second, event.event_time);
    }
    if (!budget.take(object_key(event), loop.now())) {
      ++counters.dropped;
      return;
    }
    auto series = std::make_shared<Series>();
    series->key = std::move(key);
    series->event = std::move(event);
    series->seen_at = loop.now();
    by_key.emplace(series->key, series);
    unwritten.add(series);
    wait(series);
    keep_bound();
    pump();
  }

  void repeat(const SeriesPtr& series, Timestamp when) {
    ++counters.joined;
    ++series->occurrences;
    series->event.series_last_observed = when;
    series->seen_at = loop.now();
    if (series->stage != Stage::kIdle) return;
    idle.erase(series->place);
    unwritten.add(series);
    pause(series);
    pump();
  }

  // A repetition after the window is a new event. Idle ones are in the order of their last write.
  void forget_expired() {
    while (!idle.empty() && loop.now() - idle.front()->seen_at > options.series_window) {
      forget(idle.front());
    }
  }

  // Idle ones go first: nothing is lost by that. Then waiting ones, which are counted: of the
  // namespace with the most, so that its events do not push out those of others.
  void keep_bound() {
    while (by_key.size() > options.max_waiting) {
      if (!idle.empty()) {
        forget(idle.front());
        continue;
      }
      const SeriesPtr oldest = unwritten.oldest_of_most();
      if (!oldest) return;
      drop(oldest);
    }
  }

  void drop(const SeriesPtr& series) {
    ++counters.dropped;
    forget(series);
  }

  // By value: the argument may be an element of the list itself.
  void forget(SeriesPtr series) {
    if (series->stage == Stage::kIdle) {
      idle.erase(series->place);
    } else {
      unwritten.remove(series);
    }
    const std::string& namespace_ = series->event.namespace_;
    if (series->stage == Stage::kWaiting && !waiting.remove(namespace_, series)) {
      end_trouble(namespace_);
    }
    series->stage = Stage::kForgotten;  // `pausing` skips it
    by_key.erase(series->key);
  }

  // ---- when to write

  void wait(const SeriesPtr& series) {
    series->stage = Stage::kWaiting;
    series->place_in_line = ++line;
    waiting.push(series->event.namespace_, series);
  }

  void pause(const SeriesPtr& series) {
    const Clock::time_point due = series->written_at + options.series_interval;
    if (flushed || due <= loop.now()) return wait(series);
    series->stage = Stage::kPausing;
    pausing.emplace(due, series);
    set_pause_timer();
  }

  void set_pause_timer() {
    pause_timer.reset();
    if (pausing.empty()) return;
    const auto delay = pausing.begin()->first - loop.now();
    pause_timer = loop.after(delay, [this] {
      end_pauses(loop.now());
      set_pause_timer();
      pump();
    });
  }

  void end_pauses(Clock::time_point until) {
    while (!pausing.empty() && pausing.begin()->first <= until) {
      const SeriesPtr series = pausing.begin()->second;
      pausing.erase(pausing.begin());
      if (series->stage != Stage::kForgotten) wait(series);
    }
  }

  [[nodiscard]] bool binds_wait() const { return may_send && !may_send(); }

  std::optional<SeriesPtr> take() {
    if (!binds_wait()) return waiting.take(options.max_in_flight);
    if (!held_for_long) return std::nullopt;
    return waiting.take_behind_binds();
  }

  void time_hold() {
    if (!binds_wait()) {
      held_for_long = false;
      hold_timer.reset();
    } else if (!held_for_long && !hold_timer) {
      hold_timer = loop.after(options.max_hold, [this] {
        hold_timer.reset();
        held_for_long = true;
        pump();
      });
    }
  }

  void pump() {
    time_hold();
    while (!retry_timer && waiting.waiting() > 0) {
      const auto next = take();
      if (!next) break;
      write(*next);
    }
    if (flushed && unwritten.is_empty()) finish_flush();
  }

  // ---- writing

  void write(const SeriesPtr& series) {
    series->stage = Stage::kWriting;
    ++series->attempts;
    const bool behind_binds = binds_wait();
    waiting.opened(series->event.namespace_, behind_binds);
    const std::int32_t occurrences = series->occurrences;
    series->event.series_count = occurrences > 1 ? occurrences : 0;
    auto done = [weak = weak_from_this(), series, occurrences,
                 behind_binds](const Result<void>& answer) {
      const auto parts = weak.lock();
      if (!parts) return;
      parts->waiting.answered(series->event.namespace_, behind_binds);
      parts->answered(series, occurrences, answer);
    };
    if (series->created) {
      client.patch_event_series(series->event, std::move(done));
    } else {
      client.create_event(series->event, std::move(done));
    }
  }

  void answered(const SeriesPtr& series, std::int32_t occurrences, const Result<void>& answer) {
    const std::string& namespace_ = series->event.namespace_;
    const bool repeats = !answer && worth_repeating(answer.error());
    if (!repeats) {
      failing.clear();
      end_trouble(namespace_);
    }
    // An earlier attempt did create the event, but its answer was lost or did not show it.
    const bool exists =
        series->perhaps_created && !series->created && !answer && answer.error().is_status(409);
    if (answer) {
      wrote(series, occurrences);
    } else if (exists) {
      wrote(series, 1);  // how many occurrences it had then is not known
    } else if (series->created && answer.error().is_not_found()) {
      // The server stores events for an hour; this one is deleted, and its repetition is a new one.
      series->created = false;
      again(series);
    } else if (repeats) {
      series->perhaps_created |= answer.error().may_have_acted;
      hold_back(namespace_, answer.error());
      again(series);
    } else {
      drop(series);
    }
    pump();
  }

  void wrote(const SeriesPtr& series, std::int32_t occurrences) {
    back_off.reset();
    ++counters.written;
    series->created = true;
    series->attempts = 0;
    series->written = occurrences;
    series->written_at = loop.now();
    if (series->occurrences > series->written) return pause(series);
    unwritten.remove(series);
    series->place = idle.insert(idle.end(), series);
    series->stage = Stage::kIdle;
  }

  void again(const SeriesPtr& series) {
    if (series->attempts >= options.max_attempts) return drop(series);
    series->stage = Stage::kWaiting;
    waiting.put_back(series->event.namespace_, series, [&](const SeriesPtr& other) {
      return other->place_in_line > series->place_in_line;
    });
  }

  // After a failed write no events of its namespace are sent for a while: the cause may be a
  // webhook. If it is the server, no events are sent at all.
  void hold_back(const std::string& namespace_, const Error& error) {
    if (failing.size() < kManyNamespaces) failing.insert(namespace_);
    if (is_of_all(error) || failing.size() == kManyNamespaces) {
      hold_back_all(error);
    } else {
      hold_back_one(namespace_, error);
    }
  }

  void hold_back_all(const Error& error) {
    if (retry_timer) return;
    retry_timer = loop.after(back_off.next(loop.now(), error.retry_after), [this] {
      retry_timer.reset();
      pump();
    });
  }

  void hold_back_one(const std::string& namespace_, const Error& error) {
    const BackOff fresh(options.seed + ++numbers, options.back_off);
    const auto it = troubles.try_emplace(namespace_, Trouble{fresh, nullptr}).first;
    auto& [its_back_off, its_pause] = it->second;
    if (its_pause) return;
    waiting.pause(namespace_);
    its_pause = loop.after(its_back_off.next(loop.now(), error.retry_after),
                           [this, it] { end_pause_of(it); });
  }

  void end_pause_of(Troubles::iterator it) {
    const auto timer = std::move(it->second.pause);  // it calls this
    if (!waiting.resume(it->first)) troubles.erase(it);
    pump();
  }

  // A pause that has not ended goes on.
  void end_trouble(const std::string& namespace_) {
    const auto found = troubles.find(namespace_);
    if (found == troubles.end()) return;
    found->second.back_off.reset();
    if (!found->second.pause) troubles.erase(found);
  }

  // ---- flushing

  void flush(std::chrono::milliseconds limit, std::function<void()> done) {
    flushed = std::move(done);
    flush_timer = loop.after(limit, [this] {
      waiting.clear();
      for (const SeriesPtr& series : unwritten.all()) {
        if (series->stage == Stage::kWaiting) drop(series);
      }
      finish_flush();
    });
    pause_timer.reset();
    end_pauses(Clock::time_point::max());
    // Not from within the call.
    loop.post([weak = weak_from_this()] {
      if (const auto parts = weak.lock()) parts->pump();
    });
  }

  void finish_flush() {
    const auto timer = std::move(flush_timer);
    if (const auto done = std::exchange(flushed, nullptr)) done();
  }

  Client& client;
  EventLoop& loop;
  const Options options;
  const std::function<bool()> may_send;
  struct {  // any thread reads them
    std::atomic<std::uint64_t> written, joined, dropped;
  } counters;
  BackOff back_off;
  EventBudget budget;
  std::uint64_t numbers = 0;
  std::uint64_t line = 0;  // the last place in it

  std::map<std::string, SeriesPtr> by_key;  // a tree: see KnownObjects
  Unwritten unwritten;
  std::list<SeriesPtr> idle;                            // completely written
  CallQueue<SeriesPtr> waiting;                         // to be written, and how many are under way
  std::multimap<Clock::time_point, SeriesPtr> pausing;  // by the end of their interval

  Troubles troubles;  // by namespace
  std::set<std::string>
      failing;  // namespaces since some write did not fail; kManyNamespaces at most

  bool held_for_long = false;         // binds have waited for `max_hold`
  std::unique_ptr<Timer> hold_timer;  // until then

  std::unique_ptr<Timer> pause_timer;
  std::unique_ptr<Timer> retry_timer;  // while it runs nothing is sent
  std::unique_ptr<Timer> flush_timer;
  std::function<void()> flushed;  // set while a flush is under way
};

EventRecorder::EventRecorder(Client& client, EventLoop& loop, Options options,
                             std::function<bool()> may_send)
    : parts_(std::make_shared<Parts>(client, loop, options, std::move(may_send))) {}

EventRecorder::~EventRecorder() = default;

void EventRecorder::record(EventObject event) { parts_->record(std::move(event)); }

void EventRecorder::flush(std::chrono::milliseconds limit, std::function<void()> done) {
  parts_->flush(limit, std::move(done));
}

void EventRecorder::resume() { parts_->pump(); }

EventRecorder::Counters EventRecorder::counters() const {
  const auto& counters = parts_->counters;
  return {.written = counters.written, .joined = counters.joined, .dropped = counters.dropped};
}

}  // namespace k8s
