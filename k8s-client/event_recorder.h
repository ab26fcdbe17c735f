// Writes events.k8s.io/v1 Events about objects, late and combined, so that they delay nothing else.
//
// An event costs the API server as much as a bind, so events wait while binds are under way,
// repetitions of the same event become a series on the first one, the memory for waiting ones is
// limited, and what had to be dropped is counted, never silently lost. Events of the namespace with
// the most are dropped, so that a storm of events in one does not push out those of others.
//
// An object has a budget of events (event_budget.h); what exceeds it is dropped and counted.
//
// The first occurrence is written as an event of its own. A repetition (defined in event_series.h)
// increases the count of its series, which is then written at most once per `series_interval`.
// Binds may be waiting all the time, because new ones come and those of one namespace are slow. So
// once events have waited behind binds for `max_hold`, two of different namespaces are sent at a
// time.
//
// Writes that fail for a temporary reason are tried again with back-off, in order; an event that
// the server refuses (for example because its namespace is being deleted) is dropped and counted.
// A webhook that hangs or fails delays the events of its namespaces alone (call_queue.h), and a
// server that fails in several namespaces gets no events for a while.
//
// All functions are called on the event loop's thread.
#pragma once

#include "k8s-client/api/event.h"
#include "k8s-client/back_off.h"
#include "k8s-client/client.h"
#include "k8s-client/event_budget.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace k8s {

class EventRecorder {
 public:
  struct Options {
    std::size_t max_waiting =
        20'000;  // distinct events; beyond it the oldest of the namespace with the most is dropped
    std::size_t max_in_flight = 16;            // of one namespace half of them
    std::chrono::seconds series_window{360};   // a repeat within it joins the series
    std::chrono::seconds series_interval{10};  // between two writes of one series
    int max_attempts = 12;                     // to write one event
    BackOffOptions back_off = {.limit = std::chrono::seconds(5)};  // while the server is in trouble
    std::chrono::seconds max_hold{30};  // may_send holds all events back for no longer
    std::uint64_t seed = 0;             // of its jitter
    EventBudget::Options budget = {};   // of new events of one object; repetitions are free
  };
  struct Counters {
    std::uint64_t written = 0;
    std::uint64_t joined = 0;   // repeats that became part of a series
    std::uint64_t dropped = 0;  // given up: a limit was reached, or the server refused them
    friend bool operator==(const Counters&, const Counters&) = default;
  };

  // `may_send`: called before each write; false while binds wait.
  EventRecorder(Client& client, EventLoop& loop, Options options, std::function<bool()> may_send);
  // What still waits is lost: flush() first.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Takes an event without a name or series; returns at once. Its event_time is when it happened.
  void record(EventObject event);

  // Writes series without waiting for their interval, and calls `done` when nothing waits and
  // nothing is under way, or at the latest after `limit`. What still waits then is dropped and
  // counted; what is under way then may be written or not, and is counted as neither. may_send is
  // still called.
  void flush(std::chrono::milliseconds limit, std::function<void()> done);

  // Call it when may_send may have become true.
  void resume();

  // Totals so far. Thread-safe.
  [[nodiscard]] Counters counters() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // shared with the writes under way
};

}  // namespace k8s
