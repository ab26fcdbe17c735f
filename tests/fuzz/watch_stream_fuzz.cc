// Any bytes as the stream of a watch, as lines (JSON) and as frames (protobuf): the first byte says
// how they are cut. What comes out must not depend on the cuts.
#include "k8s-client/watch/frame_splitter.h"
#include "k8s-client/watch/line_splitter.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"

#include <string>
#include <vector>

namespace {

// Small, so that inputs reach it.
constexpr std::size_t kMost = 100;
constexpr std::size_t kLengthSize = 4;

struct Parts {
  std::vector<std::string> parts;
  bool too_long = false;
  bool has_rest = false;  // where nothing was too long
  friend bool operator==(const Parts&, const Parts&) = default;
};

template <typename Splitter>
Parts split(std::string_view bytes, std::uint8_t cut) {
  Splitter splitter(kMost);
  Parts found;
  fuzz::in_pieces(bytes, cut, [&](std::string_view piece) {
    const auto fed = splitter.feed(piece, [&](std::string_view part) {
      fuzz::require(part.size() <= kMost, "what is longer than allowed is not handed on");
      found.parts.emplace_back(part);
      return true;
    });
    found.too_long = !fed;
    return fed.has_value();
  });
  if (!found.too_long) found.has_rest = splitter.has_rest();
  return found;
}

// The same, written down as plainly as can be.
Parts lines_of(std::string_view bytes) {
  Parts found;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end);
    found.too_long = line.size() > kMost;
    if (found.too_long) return found;
    found.has_rest = end == std::string_view::npos;
    if (found.has_rest) return found;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) found.parts.emplace_back(line);
    bytes.remove_prefix(end + 1);
  }
  return found;
}

Parts frames_of(std::string_view bytes) {
  Parts found;
  while (!bytes.empty()) {
    found.has_rest = bytes.size() < kLengthSize;
    if (found.has_rest) return found;
    std::size_t length = 0;
    for (const char byte : bytes.substr(0, kLengthSize)) {
      length = length * 256 + static_cast<unsigned char>(byte);
    }
    bytes.remove_prefix(kLengthSize);
    found.too_long = length > kMost;
    if (found.too_long) return found;
    found.has_rest = bytes.size() < length;
    if (found.has_rest) return found;
    found.parts.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return found;
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string_view bytes = fuzz::as_text(data + 1, size - 1);
  for (const std::uint8_t cut : {std::uint8_t{0}, data[0]}) {
    fuzz::require(split<k8s::LineSplitter>(bytes, cut) == lines_of(bytes),
                  "lines are those of the whole stream");
    fuzz::require(split<k8s::FrameSplitter>(bytes, cut) == frames_of(bytes),
                  "frames are those of the whole stream");
  }
}
