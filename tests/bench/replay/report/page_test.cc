// The pieces that the page is made of: text, words, plots.
#include "bench/replay/report/page/plot.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay::page {
namespace {

TEST_CASE("text is escaped") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases{{"plain", "plain"},
                                {"<a b=\"c\">&'", "&lt;a b=&quot;c&quot;&gt;&amp;&#39;"},
                                {"line\nbreak", "line\nbreak"},
                                {std::string("\x01", 1), "\xEF\xBF\xBD"},
                                {"grün", "grün"}};
  for (const Case& c : cases) CHECK(escape(c.given) == c.want);
  CHECK(json_text(nlohmann::ordered_json::array({"</script>"})) == "[\"\\u003c/script>\"]");
}

TEST_CASE("figures are written for people") {
  CHECK(number(4.605, 1) == "4.6");
  CHECK(number(12405.4, 0) == "12,405");
  CHECK(number(1234567.25, 1) == "1,234,567.2");
  CHECK(number(-0.3, 2) == "−0.30");
  CHECK(number(-0.001, 2) == "0.00");
  CHECK(count(0) == "0");
  CHECK(count(999) == "999");
  CHECK(count(8152) == "8,152");
  CHECK(count(1234567) == "1,234,567");
  CHECK(spread({4.614, 0.083, 10}, 2) == "4.61 ± 0.08");
  CHECK(spread({4.614, 0, 1}, 2) == "4.61");
}

TEST_CASE("durations are said as a person says them") {
  struct Case {
    double seconds;
    std::string want;
  };
  const std::vector<Case> cases{
      {0, "0 seconds"},    {0.25, "under a second"}, {1, "1 second"},     {12.4, "12 seconds"},
      {59.97, "1 minute"}, {200, "3.3 minutes"},     {600, "10 minutes"}, {3600, "1 hour"},
      {51545, "14 hours"}, {86149, "24 hours"},      {86400, "1 day"},    {109769, "1.3 days"},
      {864000, "10 days"}};
  for (const Case& c : cases) CHECK(duration(c.seconds) == c.want);
}

TEST_CASE("policies, arrivals and GPU models have names in words") {
  CHECK(policy_words("best_fit") == "best fit");
  CHECK(policy_words("default") == "default policy");
  CHECK(policy_words("my_own") == "my own");
  CHECK(arrival_words("trace") == "each pod at its own time");
  CHECK(arrival_words("stationary:95") == "a stream of pods that asks for 95 % of the GPUs");
  CHECK(arrival_words("inflate:130") ==
        "pods drawn until they ask for 130 % of the GPUs, none leaves");
  CHECK(model_words("NVIDIA-H100-80GB-HBM3") == "NVIDIA H100 80GB HBM3");
  CHECK(model_words("my-model") == "my-model");
  const std::vector<std::vector<std::string>> lists{{"a"}, {"a", "b"}, {"a", "b", "c"}};
  CHECK(listed(lists[0]) == "a");
  CHECK(listed(lists[1]) == "a and b");
  CHECK(listed(lists[2]) == "a, b and c");
}

Line line_of(std::vector<double> values) {
  Line line{.name = "<b>"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    line.points.push_back({static_cast<double>(i), values[i]});
  }
  return line;
}

TEST_CASE("a plot of nothing is known as one") {
  const auto plot_of = [](std::vector<Line> lines) {
    Plot plot;
    plot.lines = std::move(lines);
    return plot;
  };
  CHECK(is_empty(plot_of({})));
  CHECK(is_empty(plot_of({line_of({0, 0, 0.001}), line_of({0})})));
  CHECK(is_empty(plot_of({line_of({100, 100})})));
  CHECK_FALSE(is_empty(plot_of({line_of({100, 99})})));
  CHECK_FALSE(is_empty(plot_of({line_of({0, 0}), line_of({0, 1})})));
}

TEST_CASE("a plot is data for uPlot") {
  Plot plot;
  plot.title = "Use";
  plot.x = hours_axis(240);
  plot.y = "GPUs";
  plot.range = {0, 8};
  plot.most_points = 3;
  plot.lines = {line_of({0, 1, 2, 3, 4.006}), line_of({4, 3, 2, 1, 0})};
  for (Line& line : plot.lines) {
    for (Point& point : line.points) point.x *= 24;
  }
  plot.lines[0].deviations = {0, 0, 0.5, 0, 0.25};
  plot.lines[1].policy = 9;
  plot.lines[1].hue = 2;
  plot.lines[1].dashed = true;
  std::ostringstream out;
  write_plot(out, plot);
  // Every second point and the last one; the second line has the x of the first.
  CHECK_THAT(out.str(), Catch::Contains(
                            R"("lines":[{"name":"\u003cb>","x":[0.0,2.0,4.0],"y":[0.0,2.0,4.01],)"
                            R"("deviations":[0.0,0.5,0.25]},{"name":"\u003cb>","policy":9,"hue":2,)"
                            R"("dash":[6,4],"y":[4.0,2.0,0.0]}])"));
  CHECK_THAT(out.str(), Catch::Contains(R"("x":"days since the start","range":[0.0,8.0])"));
  CHECK(hours_axis(96).label == "hours since the start");
}

}  // namespace
}  // namespace bench::replay::page
