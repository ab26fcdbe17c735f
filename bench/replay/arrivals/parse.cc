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

// A number above 0 and at most `most`; 0 if the text is none.
double positive(std::optional<std::string_view> text, double most) {
  if (!text) return 0;
  double number = 0;
  const auto [end, code] =
      std::from_chars(text->begin(), text->end(), number, std::chars_format::fixed);
  const bool is_one = code == std::errc() && end == text->end() && number > 0 && number <= most;
  return is_one ? number : 0;
}

}  // namespace

k8s::Result<ArrivalMode> parse_arrival(std::string_view text) {
  const auto [name, number] = at_colon(text);
  if (text == "trace") return ArrivalMode(TraceArrival{});
  if (text == "backlog") return ArrivalMode(BacklogArrival{});
  const double percent = positive(number, kMostPercent);
  if (name == "inflate" && percent > 0) return ArrivalMode(InflateArrival{.percent = percent});
  if (name == "stationary" && percent > 0) {
    StationaryArrival stationary;
    stationary.percent = percent;
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
  const double sigma = positive(number, kMostSigma);
  if (name == "lognormal" && sigma > 0) return Life{.kind = Life::Kind::kLogNormal, .sigma = sigma};
  return k8s::config_error(
      fmt::format("life \"{}\": want exponential, trace or lognormal:SIGMA, where SIGMA is a "
                  "number above 0 and at most {}",
                  text, kMostSigma));
}

}  // namespace bench::replay
