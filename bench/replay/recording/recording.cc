#include "bench/replay/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

namespace bench::replay {

k8s::Result<RecordingReader> RecordingReader::open(const std::string& file) {
  auto lines = RecordingLines::open(file);
  if (!lines) return tl::unexpected<k8s::Error>(std::move(lines.error()));
  RecordingReader reader(*std::move(lines));
  const auto first = reader.lines_.next();
  if (!first) return tl::unexpected(first.error());
  if (reader.note_damage()) return k8s::decode_error(reader.damages_.front());
  if (!*first) {
    return k8s::config_error(fmt::format("{}: has no whole line, so it is no recording", file));
  }
  auto header = sched::live::decode_header(**first);
  if (!header) {
    return tl::unexpected(k8s::with_context(std::move(header.error()), fmt::format("{}:1", file)));
  }
  reader.header_ = *std::move(header);
  return reader;
}

bool RecordingReader::note_damage() {
  auto damage = lines_.take_damage();
  if (!damage) return false;
  damages_.push_back(*std::move(damage));
  return true;
}

k8s::Result<std::optional<sched::live::EngineCall>> RecordingReader::next() {
  auto text = std::exchange(line_, std::nullopt);
  if (!text) {
    auto read = lines_.next();
    if (!read) return tl::unexpected(std::move(read.error()));
    text = *std::move(read);
    if (note_damage()) {
      line_ = std::move(text);
      return sched::live::LostCalls{.at = last_};
    }
  }
  if (!text) return std::nullopt;
  auto call = sched::live::decode_call(*text);
  if (!call) return tl::unexpected(k8s::with_context(std::move(call.error()), place()));
  last_ = time_of(*call);
  return *std::move(call);
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
  recording.damages = reader->damages();
  return recording;
}

void cut(Recording& recording, std::chrono::milliseconds until) {
  const sched::Time end = recording.begin() + until;
  const auto later = std::find_if(recording.calls.begin(), recording.calls.end(),
                                  [&](const auto& call) { return time_of(call) > end; });
  recording.calls.erase(later, recording.calls.end());
}

}  // namespace bench::replay
