#include "bench/replay/recording/lines.h"

#include "scheduler/live/record/gzip_member.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bench::replay {

k8s::Result<RecordingLines> RecordingLines::open(const std::string& file) {
  if (std::error_code unknown; std::filesystem::is_directory(file, unknown)) {
    return k8s::config_error(fmt::format("{}: is a folder, no recording", file));
  }
  errno = 0;
  RecordingLines lines(file);
  if (!lines.stream_.is_open()) {
    return k8s::config_error(fmt::format("{}: cannot be opened: {}", file, std::strerror(errno)));
  }
  constexpr int kGzip = 0x1f;  // its first byte, which no text has
  if (lines.stream_.peek() != kGzip) return lines;
  // A flight recording has a limited size, so it is read as a whole. A file that another program
  // has packed may have any size, and is refused.
  std::string begin(64, '\0');
  lines.stream_.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(lines.stream_.gcount()));
  if (!sched::live::is_gzip_member(begin)) {
    return k8s::config_error(fmt::format("{}: is gzipped; unpack it first (gunzip)", file));
  }
  lines.packed_ = true;
  lines.stream_.clear();
  lines.bytes_ = std::move(begin);
  std::string piece(1U << 16U, '\0');
  while (lines.stream_.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         lines.stream_.gcount() > 0) {
    lines.bytes_.append(piece, 0, static_cast<std::size_t>(lines.stream_.gcount()));
  }
  if (lines.stream_.bad()) {
    return k8s::config_error(
        fmt::format("{}: cannot be read after byte {}", file, lines.bytes_.size()));
  }
  return lines;
}

k8s::Result<std::optional<std::string>> RecordingLines::next() {
  auto line = packed_ ? next_packed() : next_plain();
  if (line && *line) ++number_;
  return line;
}

k8s::Result<std::optional<std::string>> RecordingLines::next_plain() {
  std::string line;
  std::getline(stream_, line);
  if (stream_.bad()) {
    return k8s::config_error(fmt::format("{}: cannot be read after line {}", file_, number_));
  }
  if (stream_.fail()) return std::nullopt;
  cut_ = stream_.eof();
  if (cut_) return std::nullopt;
  return line;
}

std::optional<std::string> RecordingLines::next_packed() {
  while (true) {
    const std::size_t end = text_.find('\n', text_at_);
    if (end != std::string::npos) {
      std::string line = text_.substr(text_at_, end - text_at_);
      text_at_ = end + 1;
      return line;
    }
    if (!unpack_next()) return std::nullopt;
  }
}

bool RecordingLines::unpack_next() {
  using sched::live::find_gzip_member;
  text_.clear();
  text_at_ = 0;
  while (at_ < bytes_.size()) {
    const std::string_view rest = std::string_view(bytes_).substr(at_);
    auto member = sched::live::unpack_member(rest);
    if (member) {
      text_ = std::move(member->text);
      at_ += member->size;
      return true;
    }
    const std::size_t next = find_gzip_member(bytes_, at_ + 1);
    if (next == std::string::npos && sched::live::is_gzip_member(rest)) cut_ = true;
    damage_ = fmt::format("{}: byte {}: what is packed there cannot be read: {}", file_, at_,
                          member.error().message);
    at_ = std::min(next, bytes_.size());
  }
  return false;
}

std::optional<std::string> RecordingLines::take_damage() { return std::exchange(damage_, {}); }

std::string RecordingLines::place() const { return fmt::format("{}:{}", file_, number_); }

}  // namespace bench::replay
