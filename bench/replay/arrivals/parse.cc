#include "bench/replay/arrivals/arrivals.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>

namespace bench::replay {
namespace {

constexpr double kMostPercent = 1'000;
constexpr double kMostSigma = 4;

// The two parts of "name:number"; the second is nullopt if there is no colon.
std::pair<std::string_view, std::optional<std::string_view>> at_colon(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// A number above 0 and at most `most`.
std::optional<double> positive(std::string_view text, double most) {
  double number = 0;
  const auto [end, code] =
      std::from_chars(text.begin(), text.end(), number, std::chars_format::fixed);
  if (code != std::errc() || end != text.end()) return std::nullopt;
  if (!(number > 0 && number <= most)) return std::nullopt;
  return number;
}

}  // namespace

k8s::Result<ArrivalMode> parse_arrival(std::string_view text) {
  const auto [name, number] = at_colon(text);
  if (text == "trace") return ArrivalMode(TraceArrival{});
  if (text == "backlog") return ArrivalMode(BacklogArrival{});
  const std::optional<double> percent =
      number ? positive(*number, kMostPercent) : std::optional<double>();
  if (name == "inflate" && percent) return ArrivalMode(InflateArrival{.percent = *percent});
  if (name == "stationary" && percent) {
    StationaryArrival stationary;
    stationary.percent = *percent;
    return ArrivalMode(stationary);
  }
  return k8s::config_error(fmt::format(
      "arrival \"{}\": want trace, backlog, inflate:PERCENT or stationary:PERCENT, where PERCENT "
      "is a number above 0 and at most {}",
      text, kMostPercent));
}

k8s::Result<Life> parse_life(std::string_view text) {
  const auto [name, number] = at_colon(text);
  if (text == "exponential") return Life{.kind = Life::Kind::kExponential};
  if (text == "trace") return Life{.kind = Life::Kind::kTrace};
  const std::optional<double> sigma =
      number ? positive(*number, kMostSigma) : std::optional<double>();
  if (name == "lognormal" && sigma) return Life{.kind = Life::Kind::kLogNormal, .sigma = *sigma};
  return k8s::config_error(
      fmt::format("life \"{}\": want exponential, trace or lognormal:SIGMA, where SIGMA is a "
                  "number above 0 and at most {}",
                  text, kMostSigma));
}

}  // namespace bench::replay
