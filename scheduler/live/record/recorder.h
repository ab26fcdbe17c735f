// Writes a recording (record.h) while the scheduler runs.
//
// The engine's thread only hands things over; a thread of its own turns them into text and writes,
// at least once a second, so that a killed process loses about a second. Write errors (a full disk,
// a reader of a pipe that is gone) and a disk that falls far behind end the recording, not the
// scheduler: the file is closed, and all its lines but the last are complete. The recording is not
// resumed, because calls after a gap could not be replayed.
//
// A file that has reached its limit ends with its last whole line. The beginning is kept, because a
// recording is replayed from its first line. The flight recorder (flight_recorder.h) keeps the
// latest calls.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/live/record/record.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sched::live {

struct RecorderLimits {
  std::size_t bytes = 0;  // of the file; 0: none. The first line is written whatever its size.
  std::size_t most_waiting = 200'000;  // how many calls may wait for the disk
  // The file has reached its limit: nothing more is recorded. Called once, on the writing thread.
  std::function<void()> on_full = [] {};
};

class Recorder {
 public:
  // Creates `file`, or empties it. `on_error` is called at most once, on the writing thread or the
  // engine's.
  [[nodiscard]] static k8s::Result<std::unique_ptr<Recorder>> create(
      const std::string& file, const RecordHeader& header,
      std::function<void(const std::string&)> on_error, RecorderLimits limits = {});
  ~Recorder();  // writes what is left
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // On the engine's thread, in the order of the calls.
  void applied(Event event, Time at) { add(AppliedCall{std::move(event), at}); }
  void stepped(const std::optional<Decision>& decision, Time at) { add(StepCall{decision, at}); }

  // False once the recording has ended. Thread-safe.
  [[nodiscard]] bool is_writing();

 private:
  struct File;
  Recorder(std::unique_ptr<File> file, std::function<void(const std::string&)> on_error,
           RecorderLimits limits);
  void add(EngineCall call);
  void run();
  void write_until_the_end();
  enum class Written : std::uint8_t { kAll, kFull, kFailed };  // kFailed: errno says why
  [[nodiscard]] Written write(const std::vector<EngineCall>& calls);

  std::unique_ptr<File> file_;
  std::function<void(const std::string&)> on_error_;
  const RecorderLimits limits_;
  std::mutex mutex_;  // guards waiting_, stopping_, broken_
  std::condition_variable changed_;
  std::vector<EngineCall> waiting_;
  bool stopping_ = false;
  bool broken_ = false;
  std::thread thread_;
};

}  // namespace sched::live
