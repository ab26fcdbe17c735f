#include "k8s-client/watch/frame_splitter.h"

#include <algorithm>
#include <optional>

namespace k8s {
namespace {

constexpr std::size_t kLengthSize = 4;

// With the length in front; nullopt: that has not arrived yet.
std::optional<std::size_t> size_of_first(std::string_view bytes) {
  if (bytes.size() < kLengthSize) return std::nullopt;
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, kLengthSize)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return kLengthSize + length;
}

Result<void> too_long(std::size_t max_frame) {
  return decode_error("the server sent a message of more than " + std::to_string(max_frame) +
                      " bytes in a watch");
}

}  // namespace

Result<void> FrameSplitter::feed(std::string_view chunk, const OnFrame& frame) {
  // First complete the frame that began in an earlier chunk.
  while (!rest_.empty() && !chunk.empty()) {
    const std::size_t wanted = size_of_first(rest_).value_or(kLengthSize);
    const std::size_t taken = std::min(wanted - rest_.size(), chunk.size());
    rest_ += chunk.substr(0, taken);
    chunk.remove_prefix(taken);
    const auto size = size_of_first(rest_);
    if (!size || rest_.size() < *size) {
      if (size && *size > kLengthSize + max_frame_) return too_long(max_frame_);
      continue;
    }
    std::string whole;
    whole.swap(rest_);
    if (!frame(std::string_view(whole).substr(kLengthSize))) return {};
  }
  while (const auto size = size_of_first(chunk)) {
    if (*size > kLengthSize + max_frame_) return too_long(max_frame_);
    if (*size > chunk.size()) break;
    if (!frame(chunk.substr(kLengthSize, *size - kLengthSize))) return {};
    chunk.remove_prefix(*size);
  }
  rest_ += chunk;
  return {};
}

}  // namespace k8s
