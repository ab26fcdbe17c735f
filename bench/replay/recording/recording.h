// A recording (`gpu-scheduler --record`), read.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/live/record/record.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace bench::replay {

// Reads it call by call. Errors are "FILE:LINE: …". A last line without newline was left by a
// killed process; it is not part of the recording.
class RecordingReader {
 public:
  [[nodiscard]] static k8s::Result<RecordingReader> open(const std::string& file);

  [[nodiscard]] const sched::live::RecordHeader& header() const { return header_; }
  // nullopt: the end.
  [[nodiscard]] k8s::Result<std::optional<sched::live::EngineCall>> next();
  // "FILE:LINE" of the last call.
  [[nodiscard]] std::string place() const;
  // Whether the last line was cut off.
  [[nodiscard]] bool was_cut() const { return cut_; }

 private:
  explicit RecordingReader(const std::string& file)
      : file_(file), stream_(file, std::ios::binary) {}
  [[nodiscard]] std::optional<std::string> line();

  std::string file_;
  std::ifstream stream_;
  std::uint64_t number_ = 0;
  bool cut_ = false;
  sched::live::RecordHeader header_;
};

// All of it at once.
struct Recording {
  std::string name;  // the file's, without folder and extension
  sched::live::RecordHeader header;
  std::vector<sched::live::EngineCall> calls;
  bool was_cut = false;

  [[nodiscard]] sched::Time begin() const;
};
[[nodiscard]] sched::Time time_of(const sched::live::EngineCall& call);
[[nodiscard]] k8s::Result<Recording> read_recording(const std::string& file);

// Without what happened later than that after its beginning.
void cut(Recording& recording, std::chrono::milliseconds until);

}  // namespace bench::replay
