// Cuts a stream of chunks into frames, whatever the boundaries of the chunks.
//
// In protobuf a watch answers with one message after the other, each with its length in front: four
// bytes, the highest first (k8s.io/apimachinery pkg/util/framer). The counterpart of LineSplitter:
// a frame within one chunk is passed on without a copy.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/watch/line_splitter.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace k8s {

class FrameSplitter {
 public:
  // False: the rest is not needed any more.
  using OnFrame = std::function<bool(std::string_view)>;

  explicit FrameSplitter(std::size_t max_frame = LineSplitter::kMaxLine) : max_frame_(max_frame) {}

  // Calls `frame` for each frame that `chunk` completes, without its length. kDecode if a frame is
  // longer than allowed; then the splitter cannot be used any more.
  [[nodiscard]] Result<void> feed(std::string_view chunk, const OnFrame& frame);

  // Whether the bytes so far end within a frame.
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }

 private:
  std::size_t max_frame_;
  std::string rest_;  // the beginning of a frame, with its length
};

}  // namespace k8s
