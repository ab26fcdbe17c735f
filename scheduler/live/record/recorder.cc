#include "scheduler/live/record/recorder.h"

#include "scheduler/live/record/private_file.h"
#include "scheduler/live/thread_name.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace sched::live {

namespace {
// Beyond this many calls the writer is woken before its second is over.
constexpr std::size_t kManyCalls = 4'096;

// By default, a write to a pipe without a reader or beyond the limit of a file's size raises a
// signal that ends the process. With these signals blocked in the writing thread, the write fails
// with an error.
void take_signals_as_errors() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

struct Recorder::File {
  std::FILE* handle = nullptr;
  std::string name;
  std::size_t limit = 0;  // in bytes; 0: none
  std::size_t written = 0;

  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  void close() {
    if (handle != nullptr) std::fclose(std::exchange(handle, nullptr));
  }

  [[nodiscard]] bool has_room_for(const std::string& line) const {
    return limit == 0 || written + line.size() < limit;
  }
  [[nodiscard]] bool write_line(const std::string& line) {
    written += line.size() + 1;
    return std::fwrite(line.data(), 1, line.size(), handle) == line.size() &&
           std::fputc('\n', handle) != EOF;
  }
};

k8s::Result<std::unique_ptr<Recorder>> Recorder::create(
    const std::string& file, const RecordHeader& header,
    std::function<void(const std::string&)> on_error, RecorderLimits limits) {
  auto opened = std::make_unique<File>();
  opened->name = file;
  opened->limit = limits.bytes;
  opened->handle = open_private(file);
  if (opened->handle == nullptr || !opened->write_line(encode(header)) ||
      std::fflush(opened->handle) != 0) {
    return k8s::config_error(
        fmt::format("--record {}: cannot be written: {}", file, std::strerror(errno)));
  }
  return std::unique_ptr<Recorder>(
      new Recorder(std::move(opened), std::move(on_error), std::move(limits)));
}

Recorder::Recorder(std::unique_ptr<File> file, std::function<void(const std::string&)> on_error,
                   RecorderLimits limits)
    : file_(std::move(file)),
      on_error_(std::move(on_error)),
      limits_(std::move(limits)),
      thread_([this] {
        name_this_thread("recorder");
        run();
      }) {}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Recorder::add(EngineCall call) {
  bool many = false;
  bool too_many = false;
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    waiting_.push_back(std::move(call));
    many = waiting_.size() == kManyCalls;
    too_many = waiting_.size() > limits_.most_waiting;
    if (too_many) {
      broken_ = true;
      waiting_.clear();
    }
  }
  if (many) changed_.notify_one();
  if (too_many) on_error_(fmt::format("{}: the disk is too slow for it", file_->name));
}

bool Recorder::is_writing() {
  const std::lock_guard lock(mutex_);
  return !broken_;
}

void Recorder::run() {
  take_signals_as_errors();
  write_until_the_end();
  // On this thread, because the last write may raise one of the blocked signals.
  file_->close();
}

void Recorder::write_until_the_end() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, std::chrono::seconds(1),
                      [&] { return stopping_ || waiting_.size() >= kManyCalls; });
    const bool last = stopping_;
    const auto calls = std::exchange(waiting_, {});
    lock.unlock();
    const Written written = write(calls);
    const std::string why = std::strerror(errno);
    lock.lock();
    if (broken_ || (written == Written::kAll && last)) return;
    if (written == Written::kAll) continue;
    broken_ = true;
    waiting_.clear();
    lock.unlock();
    if (written == Written::kFull) return limits_.on_full();
    on_error_(fmt::format("{}: {}", file_->name, why));
    return;
  }
}

Recorder::Written Recorder::write(const std::vector<EngineCall>& calls) {
  bool full = false;
  for (const EngineCall& call : calls) {
    const std::string line = encode(call);
    full = !file_->has_room_for(line);
    if (full) break;
    if (!file_->write_line(line)) return Written::kFailed;
  }
  if (std::fflush(file_->handle) != 0) return Written::kFailed;
  return full ? Written::kFull : Written::kAll;
}

}  // namespace sched::live
