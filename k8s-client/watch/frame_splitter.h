// Cuts a stream of chunks into frames, wherever the chunks were cut.
//
// In protobuf a watch answers with one message after the other, each with its length in front: four
// bytes, the highest first (k8s.io/apimachinery pkg/util/framer). The counterpart of LineSplitter:
// a frame that lies within one chunk is handed on without a copy.
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
  // False: the rest is not wanted any more.
  using OnFrame = std::function<bool(std::string_view)>;

  explicit FrameSplitter(std::size_t max_frame = LineSplitter::kMaxLine) : max_frame_(max_frame) {}

  // Calls `frame` for each frame that `chunk` completes, without its length. kDecode when a frame
  // is longer than allowed; the splitter is of no use after that.
  [[nodiscard]] Result<void> feed(std::string_view chunk, const OnFrame& frame);

  // Whether the bytes so far end within a frame.
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }

 private:
  std::size_t max_frame_;
  std::string rest_;  // the begin of a frame, its length included
};

}  // namespace k8s
