// Log lines in one form: a message, then key=value pairs, values in quotes where they need them.
//
//   bound pod=ml/train-0 node=gpu-7 scores="GpuPacking=87*10 …"
//
// Values come from the API server: quotes and control characters in them are escaped, so that a
// line is always one line and a pair always a pair.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace sched::live {

class LogLine {
 public:
  explicit LogLine(std::string_view message) : text_(message) {}

  LogLine& with(std::string_view key, std::string_view value);
  LogLine& with(std::string_view key, std::integral auto value) {
    return with(key, std::string_view(std::to_string(value)));
  }

  void debug() const;
  void info() const;
  void warning() const;
  void error() const;

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Lines go to standard error. `verbosity` is kube-scheduler's: 0 to 3 say what was decided and what
// went wrong, 4 and more say more.
void start_log(int verbosity);

}  // namespace sched::live
