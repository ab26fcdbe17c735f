#include "scheduler/live/idle_flags.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sched::live {
namespace {

struct Rule {
  std::string_view flag;
  bool (*is_idle)(const SwitchedOn& on);
  std::string_view why;
};

bool no_port(const SwitchedOn& on) { return !on.secure_port; }
bool no_record(const SwitchedOn& on) { return !on.record; }
bool no_flight(const SwitchedOn& on) { return !on.flight_recording; }
bool unreachable_flight(const SwitchedOn& on) {
  return on.flight_recording && !on.secure_port && !on.flight_recording_dir;
}

constexpr std::string_view kNoPort = "--secure-port is 0";
constexpr std::string_view kNoFlight = "--flight-recording is 0";
constexpr std::array<Rule, 8> kRules{{
    {"--ui", no_port, kNoPort},
    {"--answers", no_port, kNoPort},
    {"--tls-cert-file", no_port, kNoPort},
    {"--tls-private-key-file", no_port, kNoPort},
    {"--record-limit", no_record, "--record is not given"},
    {"--flight-recording-age", no_flight, kNoFlight},
    {"--flight-recording-dir", no_flight, kNoFlight},
    {"--flight-recording", unreachable_flight,
     "nothing can read the recording: --secure-port is 0 and --flight-recording-dir is not given"},
}};

}  // namespace

std::optional<std::string> idle_flag(const SwitchedOn& on,
                                     const std::function<bool(const std::string& flag)>& is_given) {
  for (const Rule& rule : kRules) {
    if (!rule.is_idle(on) || !is_given(std::string(rule.flag))) continue;
    return fmt::format("{} has no effect: {}", rule.flag, rule.why);
  }
  return std::nullopt;
}

}  // namespace sched::live
