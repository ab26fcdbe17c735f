#include "scheduler/live/log.h"

#include "k8s-client/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
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

std::string json(std::string_view value) { return k8s::json_text(nlohmann::json(value)); }

// Set once, before there are other threads.
LogFormat& format_in_use() {
  static LogFormat format = LogFormat::kText;
  return format;
}

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%f%z %l %v";
constexpr const char* kJsonPattern = R"({"ts":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l",%v})";

}  // namespace

std::optional<LogFormat> log_format(std::string_view word) {
  if (word == "text") return LogFormat::kText;
  if (word == "json") return LogFormat::kJson;
  return std::nullopt;
}

LogLine::LogLine(std::string_view message) : LogLine(message, format_in_use()) {}
LogLine::LogLine(std::string_view message, LogFormat format)
    : format_(format),
      text_(format == LogFormat::kText ? std::string(message) : "\"msg\":" + json(message)) {}

LogLine& LogLine::with(std::string_view key, std::string_view value) {
  if (format_ == LogFormat::kJson) return with_plain(key, json(value));
  return with_plain(key, needs_quotes(value) ? quoted(value) : std::string(value));
}

LogLine& LogLine::with_plain(std::string_view key, std::string_view value) {
  if (format_ == LogFormat::kJson) {
    text_ += ',' + json(key) + ':';
  } else {
    text_ += ' ';
    text_ += key;
    text_ += '=';
  }
  text_ += value;
  return *this;
}

void LogLine::debug() const { spdlog::debug("{}", text_); }
void LogLine::info() const { spdlog::info("{}", text_); }
void LogLine::warning() const { spdlog::warn("{}", text_); }
void LogLine::error() const { spdlog::error("{}", text_); }

void start_log(int verbosity, LogFormat format) {
  format_in_use() = format;
  auto logger = std::make_shared<spdlog::logger>("gpu-scheduler",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(format == LogFormat::kText ? kTextPattern : kJsonPattern);
  logger->set_level(verbosity >= 4 ? spdlog::level::debug : spdlog::level::info);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace sched::live
