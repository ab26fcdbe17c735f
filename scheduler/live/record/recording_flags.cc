#include "scheduler/live/record/recording_flags.h"

#include "k8s-client/api/quantity.h"
#include "scheduler/config/duration.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace sched::live {

namespace {

// Some segments and a small cluster's objects fit.
constexpr std::size_t kLeastFlight = 4U << 20U;
constexpr std::chrono::minutes kLeastAge{1};
constexpr std::chrono::hours kGreatestAge{24 * 7};

k8s::Result<std::size_t> size_of(std::string_view flag, const std::string& text) {
  const auto quantity = k8s::Quantity::parse(text);
  if (!quantity || *quantity < k8s::Quantity()) {
    return k8s::config_error(
        fmt::format("{}: \"{}\" is no size; it must be bytes, such as 64Mi, or 0", flag, text));
  }
  return static_cast<std::size_t>(quantity->value());
}

}  // namespace

k8s::Result<std::size_t> record_limit(const RecordingFlags& flags) {
  return size_of("--record-limit", flags.record_limit);
}

k8s::Result<std::optional<FlightRecorder::Options>> flight_recording(const RecordingFlags& flags) {
  const auto bytes = size_of("--flight-recording", flags.flight_recording);
  if (!bytes) return tl::unexpected<k8s::Error>(bytes.error());
  const auto age = config::parse_duration(flags.flight_recording_age);
  if (!age || *age < kLeastAge || *age > kGreatestAge) {
    return k8s::config_error(
        fmt::format("--flight-recording-age: \"{}\" is no time between 1m and 168h, such as 1h",
                    flags.flight_recording_age));
  }
  if (*bytes == 0) return std::nullopt;
  if (*bytes < kLeastFlight) {
    return k8s::config_error(
        fmt::format("--flight-recording: \"{}\" is too small; it must be at "
                    "least 4Mi, or 0 for no recording",
                    flags.flight_recording));
  }
  return FlightRecorder::Options{
      .limits = {.bytes = *bytes,
                 .age = std::chrono::duration_cast<std::chrono::microseconds>(*age)}};
}

}  // namespace sched::live
