// Any lines as those of a recording: what is read can be written and read again, and is the same.
#include "scheduler/live/record/record.h"
#include "tests/fuzz/fuzz_target.h"

#include <algorithm>
#include <string>

namespace {

using sched::live::decode_call;
using sched::live::decode_header;
using sched::live::encode;

template <typename Answer>
void check_error(const Answer& answer) {
  fuzz::require(answer || !answer.error().message.empty(), "an error says something");
}

void check_header(std::string_view line) {
  const auto header = decode_header(line);
  check_error(header);
  if (!header) return;
  const auto again = decode_header(encode(*header));
  fuzz::require(again && *again == *header, "a header that is written reads as the same");
}

void check_call(std::string_view line) {
  const auto call = decode_call(line);
  check_error(call);
  if (!call) return;
  const std::string written = encode(*call);
  fuzz::require(written.find('\n') == std::string::npos, "a call is one line");
  const auto again = decode_call(written);
  fuzz::require(again && encode(*again) == written, "a call that is written reads as the same");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    check_header(text.substr(0, end));
    check_call(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}
