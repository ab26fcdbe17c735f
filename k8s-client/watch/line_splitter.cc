#include "k8s-client/watch/line_splitter.h"

namespace k8s {
namespace {

std::string_view without_carriage_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

Result<void> LineSplitter::feed(std::string_view chunk, const OnLine& line) {
  std::size_t end = chunk.find('\n');
  while (end != std::string_view::npos) {
    std::string whole;
    std::string_view text = chunk.substr(0, end);
    if (!rest_.empty()) {
      if (auto kept = keep_rest(text); !kept) return kept;
      whole.swap(rest_);
      text = whole;
    }
    if (text.size() > max_line_) return keep_rest(text);
    text = without_carriage_return(text);
    if (!text.empty() && !line(text)) return {};
    chunk.remove_prefix(end + 1);
    end = chunk.find('\n');
  }
  return keep_rest(chunk);
}

Result<void> LineSplitter::keep_rest(std::string_view rest) {
  if (rest_.size() + rest.size() > max_line_) {
    return decode_error("the server sent a line of more than " + std::to_string(max_line_) +
                        " bytes in a watch");
  }
  rest_ += rest;
  return {};
}

}  // namespace k8s
