// The flags for recordings, checked: sizes and durations in Kubernetes' notation.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/live/record/flight_recorder.h"

#include <cstddef>
#include <optional>
#include <string>

namespace sched::live {

struct RecordingFlags {
  std::string record_limit = "1Gi";
  std::string flight_recording = "0";
  std::string flight_recording_age = "1h";
};

// --record-limit in bytes; 0: none.
[[nodiscard]] k8s::Result<std::size_t> record_limit(const RecordingFlags& flags);
// nullopt: --flight-recording is 0.
[[nodiscard]] k8s::Result<std::optional<FlightRecorder::Options>> flight_recording(
    const RecordingFlags& flags);

}  // namespace sched::live
