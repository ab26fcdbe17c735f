#include "scheduler/live/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

namespace sched::live {

namespace {

bool needs_quotes(std::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c == '"' || c == '=' || c == '\\' || c == '\x7f' ||
                  static_cast<unsigned char>(c) <= ' ';
         });
}

std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace

LogLine& LogLine::with(std::string_view key, std::string_view value) {
  text_ += ' ';
  text_ += key;
  text_ += '=';
  text_ += needs_quotes(value) ? quoted(value) : std::string(value);
  return *this;
}

void LogLine::debug() const { spdlog::debug("{}", text_); }
void LogLine::info() const { spdlog::info("{}", text_); }
void LogLine::warning() const { spdlog::warn("{}", text_); }
void LogLine::error() const { spdlog::error("{}", text_); }

void start_log(int verbosity) {
  auto logger = std::make_shared<spdlog::logger>("gpu-scheduler",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%f%z %l %v");
  logger->set_level(verbosity >= 4 ? spdlog::level::debug : spdlog::level::info);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace sched::live
