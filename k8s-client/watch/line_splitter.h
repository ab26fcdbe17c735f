// Cuts a stream of chunks into lines, whatever the boundaries of the chunks.
//
// A watch answers with one JSON document a line, and HTTP delivers it in pieces of any length. A
// line within one chunk is passed on without a copy; only a line over several chunks is put
// together in a buffer. The decoder copies each line once more into its own padded buffer, so no
// padding is needed here.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace k8s {

class LineSplitter {
 public:
  // An API object is at most 1.5 MiB in etcd; its JSON is shorter than this, even with six
  // characters for each byte. Anything longer is not a watch, and must not fill the memory.
  static constexpr std::size_t kMaxLine = std::size_t{16} * 1024 * 1024;

  // False: the rest is not needed any more.
  using OnLine = std::function<bool(std::string_view)>;

  explicit LineSplitter(std::size_t max_line = kMaxLine) : max_line_(max_line) {}

  // Calls `line` for each line that `chunk` completes, without its end; empty lines are skipped.
  // kDecode if a line is longer than allowed; then the splitter cannot be used any more.
  [[nodiscard]] Result<void> feed(std::string_view chunk, const OnLine& line);

  // Whether the bytes so far end within a line.
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }

 private:
  [[nodiscard]] Result<void> keep_rest(std::string_view rest);

  std::size_t max_line_;
  std::string rest_;
};

}  // namespace k8s
