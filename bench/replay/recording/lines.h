// The lines of a recording's file: plain (`gpu-scheduler --record`), or packed in members of gzip
// (the flight recording, scheduler/live/record/gzip_member.h).
//
// Of a packed file a damaged member is left out, and reading goes on behind it.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace bench::replay {

class RecordingLines {
 public:
  [[nodiscard]] static k8s::Result<RecordingLines> open(const std::string& file);

  // Without its newline; nullopt: the end. A last line without newline is left out. An error: the
  // file cannot be read any further.
  [[nodiscard]] k8s::Result<std::optional<std::string>> next();
  // "FILE:LINE" of what was read last; lines are counted as they are read, also where some are
  // missing before them.
  [[nodiscard]] std::string place() const;
  // The last line, or the last member, was cut off.
  [[nodiscard]] bool was_cut() const { return cut_; }
  // What is missing before the line that was read last, and where: "FILE: byte 123: …". Nothing
  // after it was asked for.
  [[nodiscard]] std::optional<std::string> take_damage();

 private:
  explicit RecordingLines(const std::string& file) : file_(file), stream_(file, std::ios::binary) {}
  [[nodiscard]] k8s::Result<std::optional<std::string>> next_plain();
  [[nodiscard]] std::optional<std::string> next_packed();
  // Unpacks the next member that is whole into text_. False: there is none.
  bool unpack_next();

  std::string file_;
  std::ifstream stream_;  // of a plain file
  bool packed_ = false;
  std::string bytes_;  // of a packed file: all of it
  std::size_t at_ = 0;
  std::string text_;  // of the member that is being read
  std::size_t text_at_ = 0;
  std::uint64_t number_ = 0;
  bool cut_ = false;
  std::optional<std::string> damage_;
};

}  // namespace bench::replay
