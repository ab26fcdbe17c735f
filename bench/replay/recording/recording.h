// A recording (`gpu-scheduler --record`, or a flight recording), read.
#pragma once

#include "bench/replay/recording/lines.h"
#include "k8s-client/error.h"
#include "scheduler/live/record/record.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

// Reads it call by call. Errors are "FILE:LINE: …". A last line without newline was left by a
// killed process; it is not part of the recording. For a damaged part there is a call of the kind
// LostCalls, and reading continues behind it.
class RecordingReader {
 public:
  [[nodiscard]] static k8s::Result<RecordingReader> open(const std::string& file);

  [[nodiscard]] const sched::live::RecordHeader& header() const { return header_; }
  // nullopt: the end.
  [[nodiscard]] k8s::Result<std::optional<sched::live::EngineCall>> next();
  // "FILE:LINE" of what was read last.
  [[nodiscard]] std::string place() const { return lines_.place(); }
  // The last line was cut off.
  [[nodiscard]] bool was_cut() const { return lines_.was_cut(); }
  // What could not be read so far, each with its place.
  [[nodiscard]] const std::vector<std::string>& damages() const { return damages_; }

 private:
  explicit RecordingReader(RecordingLines lines) : lines_(std::move(lines)) {}
  // Whether something is missing before the line that was read last, or before the end.
  bool note_damage();

  RecordingLines lines_;
  sched::live::RecordHeader header_;
  std::vector<std::string> damages_;
  std::optional<std::string> line_;  // read already, behind what is damaged
  sched::Time last_{};
};

// All of it at once.
struct Recording {
  std::string name;  // the file's, without folder and extension
  sched::live::RecordHeader header;
  std::vector<sched::live::EngineCall> calls;
  bool was_cut = false;
  std::vector<std::string> damages = {};  // what could not be read, with its place

  [[nodiscard]] sched::Time begin() const;
};
[[nodiscard]] sched::Time time_of(const sched::live::EngineCall& call);
[[nodiscard]] k8s::Result<Recording> read_recording(const std::string& file);

// Without what happened later than that after its beginning.
void cut(Recording& recording, std::chrono::milliseconds until);

}  // namespace bench::replay
