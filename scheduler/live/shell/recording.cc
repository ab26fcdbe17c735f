// The flight recording (record/flight_recorder.h), for people.
#include "scheduler/live/log.h"
#include "scheduler/live/shell/parts.h"

#include <utility>

namespace sched::live {

std::unique_ptr<FlightRecorder> make_flight_recorder(const ShellOptions& options) {
  if (!options.flight_recording) return nullptr;
  return std::make_unique<FlightRecorder>(
      RecordHeader{options.config_file, options.config_text}, *options.flight_recording, [] {
        LogLine(
            "the flight recording has ended: the objects of the cluster alone are larger than "
            "--flight-recording lets it be")
            .warning();
      });
}

k8s::Result<void> Shell::Parts::open_recording_dir() {
  if (options_.flight_recording_dir.empty()) return {};
  auto files = RecordingFiles::in(options_.flight_recording_dir);
  if (!files) {
    return tl::unexpected(k8s::with_context(std::move(files.error()), "--flight-recording-dir"));
  }
  recording_files_ = std::move(*files);
  return {};
}

std::function<void(FlightRecorder::Done)> Shell::Parts::recording_source() {
  if (!flight_recorder_) return {};
  return [this](FlightRecorder::Done done) { flight_recorder_->take(std::move(done)); };
}

void Shell::Parts::write_recording() {
  if (!flight_recorder_) {
    return LogLine("no recording is written: --flight-recording is 0").warning();
  }
  if (!recording_files_) {
    return LogLine("no recording is written: --flight-recording-dir is not set").warning();
  }
  // On the recorder's thread: a slow disk makes nothing else wait.
  flight_recorder_->take([files = *recording_files_](const RecordingParts& parts) {
    if (parts.empty()) return LogLine("no recording is written: it has ended").warning();
    const auto file = files.write(parts, wall_clock());
    if (!file)
      return LogLine("no recording is written").with("error", file.error().message).error();
    LogLine("the recording of the last hour is written").with("file", *file).info();
  });
}

}  // namespace sched::live
