#include "bench/replay/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

namespace bench::replay {

k8s::Result<RecordingReader> RecordingReader::open(const std::string& file) {
  if (std::error_code unknown; std::filesystem::is_directory(file, unknown)) {
    return k8s::config_error(fmt::format("{}: is a folder, no recording", file));
  }
  errno = 0;
  RecordingReader reader(file);
  if (!reader.stream_.is_open()) {
    return k8s::config_error(fmt::format("{}: cannot be opened: {}", file, std::strerror(errno)));
  }
  constexpr int kGzip = 0x1f;  // its first byte, which no text has
  if (reader.stream_.peek() == kGzip) {
    return k8s::config_error(fmt::format("{}: is gzipped; unpack it first (gunzip)", file));
  }
  const auto first = reader.line();
  if (!first) {
    return k8s::config_error(fmt::format("{}: has no whole line, so it is no recording", file));
  }
  auto header = sched::live::decode_header(*first);
  if (!header) {
    return tl::unexpected(k8s::with_context(std::move(header.error()), fmt::format("{}:1", file)));
  }
  reader.header_ = *std::move(header);
  return reader;
}

k8s::Result<std::optional<sched::live::EngineCall>> RecordingReader::next() {
  const auto text = line();
  if (!text) return std::nullopt;
  auto call = sched::live::decode_call(*text);
  if (!call) return tl::unexpected(k8s::with_context(std::move(call.error()), place()));
  return *std::move(call);
}

std::string RecordingReader::place() const { return fmt::format("{}:{}", file_, number_); }

std::optional<std::string> RecordingReader::line() {
  std::string line;
  if (!std::getline(stream_, line)) return std::nullopt;
  cut_ = stream_.eof();
  if (cut_) return std::nullopt;
  ++number_;
  return line;
}

sched::Time time_of(const sched::live::EngineCall& call) {
  return std::visit([](const auto& one) { return one.at; }, call);
}

sched::Time Recording::begin() const {
  return calls.empty() ? sched::Time{} : time_of(calls.front());
}

k8s::Result<Recording> read_recording(const std::string& file) {
  auto reader = RecordingReader::open(file);
  if (!reader) return tl::unexpected<k8s::Error>(std::move(reader.error()));
  Recording recording{
      .name = std::filesystem::path(file).stem().string(), .header = reader->header(), .calls = {}};
  while (true) {
    auto call = reader->next();
    if (!call) return tl::unexpected<k8s::Error>(std::move(call.error()));
    if (!*call) break;
    recording.calls.push_back(**std::move(call));
  }
  recording.was_cut = reader->was_cut();
  return recording;
}

void cut(Recording& recording, std::chrono::milliseconds until) {
  const sched::Time end = recording.begin() + until;
  const auto later = std::find_if(recording.calls.begin(), recording.calls.end(),
                                  [&](const auto& call) { return time_of(call) > end; });
  recording.calls.erase(later, recording.calls.end());
}

}  // namespace bench::replay
