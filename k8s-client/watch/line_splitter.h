// Cuts a stream of chunks into lines, wherever the chunks were cut.
//
// A watch answers with one JSON document a line, and HTTP delivers it in pieces that know nothing
// of lines. A line that lies within one chunk is handed on without a copy; only one that spans
// chunks is put together in a buffer. The decoder copies each line once more into its own padded
// buffer, which is why no padding is kept here.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace k8s {

class LineSplitter {
 public:
  // An API object is at most 1.5 MiB in etcd (3 MiB of request body); its JSON with all quotes
  // escaped stays below this. Longer is not a watch, and must not fill the memory.
  static constexpr std::size_t kMaxLine = std::size_t{16} * 1024 * 1024;

  // False: the rest is not wanted any more.
  using OnLine = std::function<bool(std::string_view)>;

  explicit LineSplitter(std::size_t max_line = kMaxLine) : max_line_(max_line) {}

  // Calls `line` for each line that `chunk` completes, without its end; empty lines are skipped.
  // kDecode when a line is longer than allowed; the splitter is of no use after that.
  [[nodiscard]] Result<void> feed(std::string_view chunk, const OnLine& line);

  // Whether the bytes so far end within a line.
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }

 private:
  [[nodiscard]] Result<void> keep_rest(std::string_view rest);

  std::size_t max_line_;
  std::string rest_;
};

}  // namespace k8s
