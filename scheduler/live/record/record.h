// A recording: all events that an engine got, and its decisions, as JSON lines.
//
//   {"gpu-scheduler-record": 1, "config_file": "…", "config": "the configuration's text"}
//   {"at": 1767225600000000, "event": "PodUpserted", "object": {…}}
//   {"at": 1767225600000210, "step": {"bind": {…}}}        or  "step": null: nothing to decide
//
// A recording of the last hour (recording_ring.h) is of version 2 once its beginning is gone. Then
// its first line has, too, "snapshot": {"objects": 1200, "decisions": 40, "at": …}: then `objects`
// lines follow, events with the cluster's objects as the engine knew them at that time, and after
// them the calls. It may have gaps:
//
//   {"at": 1767225600000300, "lost": {"events": 3, "decisions": 0}}
//
// Times are microseconds since 1970. Objects are Kubernetes' own JSON, with the fields in use. An
// engine with the configuration of the first line that gets the calls in order makes the same
// decisions again. After a snapshot or a gap its decisions may differ. `bench replay --recording`
// replays recordings of both versions.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sched::live {

struct RecordHeader {
  std::string config_file;  // for messages
  std::string config;       // the text; empty: the default configuration
  // The calls begin with objects, which stand for what happened before.
  struct Snapshot {
    std::size_t objects = 0;
    std::uint64_t decisions = 0;  // made before; the first one behind it has the next number
    Time at{};                    // of the last thing that is in it
    friend bool operator==(const Snapshot&, const Snapshot&) = default;
  };
  std::optional<Snapshot> snapshot{};
  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};

// engine.apply(event, at)
struct AppliedCall {
  Event event;
  Time at{};
};

// engine.step(at), and what it returned.
struct StepCall {
  std::optional<Decision> decision;
  Time at{};
};

// Calls that are not in the recording: they came faster than they could be written, or a part of
// the recording is damaged. Both numbers are 0 where it is not known how many.
struct LostCalls {
  std::uint64_t events = 0;
  std::uint64_t decisions = 0;
  Time at{};  // of the last of them, or of the last call before
};

using EngineCall = std::variant<AppliedCall, StepCall, LostCalls>;

// One line each, without its newline.
[[nodiscard]] std::string encode(const RecordHeader& header);
[[nodiscard]] std::string encode(const EngineCall& call);
// A decision alone, as in a step: for comparing two runs.
[[nodiscard]] std::string encode(const std::optional<Decision>& decision);

[[nodiscard]] k8s::Result<RecordHeader> decode_header(std::string_view line);
[[nodiscard]] k8s::Result<EngineCall> decode_call(std::string_view line);

}  // namespace sched::live
