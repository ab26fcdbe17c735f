// The pieces that the page is made of: text, axes, paths.
#include "bench/replay/report/page/path.h"
#include "bench/replay/report/page/plot.h"
#include "bench/replay/report/page/text.h"
#include "tests/support/catch.h"

#include <string>
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
  CHECK(json_for_script("[\"</script>\"]") == "[\"\\u003c/script>\"]");
}

TEST_CASE("figures are written for people") {
  CHECK(number(4.605, 1) == "4.6");
  CHECK(number(-0.3, 2) == "−0.30");
  CHECK(number(-0.001, 2) == "0.00");
  CHECK(count(0) == "0");
  CHECK(count(999) == "999");
  CHECK(count(8152) == "8,152");
  CHECK(count(1234567) == "1,234,567");
  CHECK(spread({4.614, 0.083, 10}, 2) == "4.61 ± 0.08");
  CHECK(spread({4.614, 0, 1}, 2) == "4.61");
}

TEST_CASE("durations have the unit that suits them") {
  struct Case {
    double seconds;
    std::string want;
  };
  const std::vector<Case> cases{{0, "0 s"},      {0.25, "250 ms"},  {1, "1 s"},
                                {90, "1.5 min"}, {600, "10 min"},   {7200, "2 h"},
                                {43200, "12 h"}, {129600, "1.5 d"}, {864000, "10 d"}};
  for (const Case& c : cases) CHECK(duration(c.seconds) == c.want);
}

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.text);
  return texts;
}

using Labels = std::vector<std::string>;

TEST_CASE("axes have round ticks") {
  CHECK(labels(linear_axis("", 0, 100, true)) == Labels{"0", "20", "40", "60", "80", "100"});
  CHECK(labels(linear_axis("", 0, 130, false)) ==
        Labels{"0", "20", "40", "60", "80", "100", "120", "130"});
  CHECK(labels(linear_axis("", 0.4, 1.1, true, 4)) == Labels{"0.4", "0.6", "0.8", "1.0", "1.2"});
  CHECK(labels(linear_axis("", 0, 387.2288, false)) == Labels{"0", "100", "200", "300"});
  CHECK(labels(hours_axis(72, 4)) == Labels{"0", "20", "40", "60", "72"});
  const Axis days = hours_axis(240, 5);
  CHECK(days.label == "days since the start");
  CHECK(labels(days) == Labels{"0", "2", "4", "6", "8", "10"});
  CHECK(days.ticks.back().at == 240);
  const Axis flat = linear_axis("", 5, 5, true);
  CHECK(flat.to > flat.from);
  CHECK(labels(duration_axis("", 4000)) == Labels{"1 s", "10 s", "1 min", "10 min", "1 h"});
}

TEST_CASE("paths lose only what nobody would see") {
  const std::vector<Dot> bent{{0, 0}, {10, 10}, {20, 21}, {30, 5}, {40, 5}};
  CHECK(path_through(simplified(bent, 0)) == "M0 0l10 10 10 11 10-16 10 0");
  CHECK(path_through(simplified(bent, 1)) == "M0 0l20 21 10-16 10 0");
  CHECK(path_through(simplified(bent, 100)) == "M0 0l40 5");
  CHECK(path_through({}).empty());
  CHECK(path_through({{3, 4}}) == "M3 4");
  CHECK(path_through({{9, 9}, {4, 2}}) == "M9 9l-5-7");
}

}  // namespace
}  // namespace bench::replay::page
