// Log lines in one form: a message, then key=value pairs, values in quotes where they need them.
//
//   bound pod=ml/train-0 node=gpu-7 scores="GpuPacking=87*10 …"
//
// or, with --logging-format=json, the same as a JSON object:
//
//   {"ts":"2026-01-01T00:00:00.000001+00:00","level":"info","msg":"bound","pod":"ml/train-0",…}
//
// Values come from the API server: quotes and control characters in them are escaped, so that a
// line is always one line and a pair always a pair.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sched::live {

enum class LogFormat : std::uint8_t { kText, kJson };

// Kubernetes' words for them: "text", "json"; nullopt: another one.
[[nodiscard]] std::optional<LogFormat> log_format(std::string_view word);

class LogLine {
 public:
  explicit LogLine(std::string_view message);  // in the format of start_log()
  LogLine(std::string_view message, LogFormat format);

  LogLine& with(std::string_view key, std::string_view value);
  LogLine& with(std::string_view key, std::integral auto value) {
    return with_plain(key, std::to_string(value));
  }

  void debug() const;
  void info() const;
  void warning() const;
  void error() const;

  // Without time and level; in JSON the members of the object, without its braces.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  // `value` needs no quotes or escapes in either format.
  LogLine& with_plain(std::string_view key, std::string_view value);

  LogFormat format_;
  std::string text_;
};

// Lines go to standard error. `verbosity` is kube-scheduler's: 0 to 3 say what was decided and what
// went wrong, 4 and more say more.
void start_log(int verbosity, LogFormat format = LogFormat::kText);

}  // namespace sched::live
