// Writes events.k8s.io/v1 Events about objects, late and together rather than in the way.
//
// An event costs the API server as much as a bind, so events wait while binds are under way, repeats
// of the same event become a series on the first one, the memory for waiting ones is bounded, and
// what had to be dropped is counted, never silently lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "k8s-client/api/meta.h"
#include "k8s-client/client.h"
#include "k8s-client/http/event_loop.h"

namespace k8s {

// events.k8s.io/v1 Event. Source: kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1.
struct EventObject {
  std::string namespace_;
  std::string name;                  // "<object>.<hash>"
  std::string regarding_kind;        // "Pod", "Node"
  std::string regarding_api_version = "v1";
  std::string regarding_namespace;
  std::string regarding_name;
  std::string regarding_uid;
  std::string reason;                // "Scheduled"
  std::string action;                // "Binding"
  std::string type;                  // "Normal", "Warning"
  std::string note;                  // cut to 1024 bytes at a character boundary, " ..." at the end
  std::string reporting_controller;  // the scheduler's name
  std::string reporting_instance;    // "<scheduler>-<host name>"
  Timestamp event_time{};
  // Of a repeated event; 0: not a series yet.
  std::int32_t series_count = 0;
  Timestamp series_last_observed{};
};

class EventRecorder {
 public:
  struct Options {
    std::size_t max_waiting = 20'000;  // distinct events; beyond it the oldest is dropped and counted
    std::size_t max_in_flight = 8;
    std::chrono::seconds series_window{360};  // a repeat within it joins the series
  };
  struct Counters {
    std::uint64_t written = 0;
    std::uint64_t joined = 0;   // repeats that became part of a series
    std::uint64_t dropped = 0;  // given up: the bound was hit, or the server refused them for good
  };

  // `may_send`: asked before each write; false while binds are waiting.
  EventRecorder(Client& client, EventLoop& loop, Options options, std::function<bool()> may_send);
  ~EventRecorder();

  // Takes an event without a name or series; returns at once.
  void record(EventObject event);

  // Calls `done` when nothing waits and nothing is in flight, or at the latest after `limit`.
  void flush(std::chrono::milliseconds limit, std::function<void()> done);

  // To be called when may_send may have become true.
  void resume();

  [[nodiscard]] Counters counters() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace k8s
