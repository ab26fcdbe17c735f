// Writes recordings of the last hour into a folder, each into a file of its own, and keeps the last
// few: "gpu-scheduler-20260101T000000Z.jsonl.gz". A file is there under its name only once it is
// whole. Files of other names are left alone.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/live/record/recording_ring.h"

#include <cstddef>
#include <string>

namespace sched::live {

class RecordingFiles {
 public:
  static constexpr std::size_t kMostFiles = 4;

  // The folder must be there, and writable.
  [[nodiscard]] static k8s::Result<RecordingFiles> in(std::string folder);

  // The path of the new file, for its owner alone (0600). When there are more than kMostFiles, the
  // oldest of the others go, by their names: after the clock was set back, the new file may have
  // the first name of all.
  [[nodiscard]] k8s::Result<std::string> write(const RecordingParts& parts, Time now) const;

 private:
  explicit RecordingFiles(std::string folder) : folder_(std::move(folder)) {}
  void remove_oldest_beside(const std::string& newest) const;

  std::string folder_;
};

}  // namespace sched::live
