#include "bench/replay/arrivals/arrivals.h"
#include "tests/support/catch.h"

namespace bench::replay {
namespace {

TEST_CASE("arrivals are named on the command line") {
  CHECK(std::holds_alternative<TraceArrival>(parse_arrival("trace").value()));
  CHECK(std::holds_alternative<BacklogArrival>(parse_arrival("backlog").value()));
  CHECK(std::get<InflateArrival>(parse_arrival("inflate:130").value()).percent == 130);
  const auto stationary = std::get<StationaryArrival>(parse_arrival("stationary:97.5").value());
  CHECK(stationary.percent == 97.5);
  CHECK(stationary.life.kind == Life::Kind::kExponential);
  CHECK(stationary.warm_up_lives == 6);
  CHECK(stationary.window_lives == 24);
}

TEST_CASE("other arrivals are refused with those there are") {
  for (const char* text : {"", "Trace", "trace:1", "backlog:2", "inflate", "inflate:", "inflate:x",
                           "inflate:0", "inflate:-5", "inflate:1001", "inflate:5 ", "inflate:1e2",
                           "inflate:nan", "stationary", "stationary:inf", "poisson:9"}) {
    DYNAMIC_SECTION('"' << text << '"') {
      const auto mode = parse_arrival(text);
      REQUIRE_FALSE(mode);
      CHECK(
          mode.error().message ==
          "arrival \"" + std::string(text) +
              "\": want trace, backlog, inflate:PERCENT or stationary:PERCENT, where PERCENT is a "
              "number above 0 and at most 1000");
    }
  }
}

TEST_CASE("lives are named on the command line") {
  CHECK(parse_life("exponential").value().kind == Life::Kind::kExponential);
  CHECK(parse_life("trace").value().kind == Life::Kind::kTrace);
  const Life life = parse_life("lognormal:1.5").value();
  CHECK(life.kind == Life::Kind::kLogNormal);
  CHECK(life.sigma == 1.5);
}

TEST_CASE("other lives are refused with those there are") {
  for (const char* text : {"", "lognormal", "lognormal:", "lognormal:0", "lognormal:5", "trace:2",
                           "exponential:1", "weibull:1"}) {
    DYNAMIC_SECTION('"' << text << '"') {
      const auto life = parse_life(text);
      REQUIRE_FALSE(life);
      CHECK(life.error().message == "life \"" + std::string(text) +
                                        "\": want exponential, trace or lognormal:SIGMA, where "
                                        "SIGMA is a number above 0 and at most 4");
    }
  }
}

}  // namespace
}  // namespace bench::replay
