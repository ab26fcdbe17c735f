#include "k8s-client/api/quantity.h"

#include "tests/support/catch.h"

#include <limits>
#include <string>
#include <vector>

namespace k8s {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Answers of ParseQuantity, AsDec, Value and MilliValue of k8s.io/apimachinery v0.36.3, except that
// values beyond 64 bits stay at the limit where upstream's arithmetic wraps around.
TEST_CASE("Quantities are read as the API server reads them", "[quantity]") {
  struct Case {
    std::string given;
    std::string canonical;
    std::int64_t value;
    std::int64_t milli;
  };
  const std::vector<Case> cases = {
      {"0", "0", 0, 0},
      {"8", "8", 8, 8000},
      {"+8", "8", 8, 8000},
      {"-1", "-1", -1, -1000},
      {"-0", "0", 0, 0},
      {"000", "0", 0, 0},
      {"00.50", "500m", 1, 500},
      {".5", "500m", 1, 500},
      {"5.", "5", 5, 5000},
      {"5.k", "5000", 5000, 5'000'000},
      {"1500m", "1500m", 2, 1500},
      {"-1.5", "-1500m", -2, -1500},
      {"-1m", "-1m", -1, -1},
      {"1u", "1u", 1, 1},
      {"1n", "1n", 1, 1},
      {"0.1n", "1n", 1, 1},
      {"-0.1n", "-1n", -1, -1},
      {"1e-10", "1n", 1, 1},
      {"1e-400", "1n", 1, 1},
      {"1.0005", "1000500u", 2, 1001},
      {"-1.0005", "-1000500u", -2, -1001},
      {"0.1234567891", "123456790n", 1, 124},
      {"1k", "1000", 1000, 1'000'000},
      {"1M", "1000000", 1'000'000, 1'000'000'000},
      {"1G", "1000000000", 1'000'000'000, 1'000'000'000'000},
      {"1T", "1000000000000", 1'000'000'000'000, 1'000'000'000'000'000},
      {"1P", "1000000000000000", 1'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"1E", "1000000000000000000", 1'000'000'000'000'000'000, kMax},
      {"1Ki", "1024", 1024, 1'024'000},
      {"1Mi", "1048576", 1 << 20, 1'048'576'000},
      {"1.5Gi", "1610612736", 3 << 29, 1'610'612'736'000},
      {"16Gi", "17179869184", std::int64_t{16} << 30, 17'179'869'184'000},
      {"1Ti", "1099511627776", std::int64_t{1} << 40, 1'099'511'627'776'000},
      {"1Pi", "1125899906842624", std::int64_t{1} << 50, 1'125'899'906'842'624'000},
      {"1Ei", "1152921504606846976", std::int64_t{1} << 60, kMax},
      {"1.5Ki", "1536", 1536, 1'536'000},
      {"0.3Ki", "307200m", 308, 307'200},
      // 174.08 nanos: what the first divisions leave over rounds up, though the last leaves
      // nothing.
      {"0.00000000017Ki", "175n", 1, 1},
      {"7.9999999999Ei", "9223372036739483657539315303n", 9223372036739483658, kMax},
      {"1e3", "1000", 1000, 1'000'000},
      {"1E3", "1000", 1000, 1'000'000},
      {"1e+3", "1000", 1000, 1'000'000},
      {"1.5e3", "1500", 1500, 1'500'000},
      {"1e-3", "1m", 1, 1},
      {"1e05", "100000", 100'000, 100'000'000},
      {"1e4294967296", "1", 1, 1000},  // the exponent's low 32 bits, as upstream
      {"9223372036854775807", "9223372036854775807", kMax, kMax},
      {"9223372036854775808", "9223372036854775807", kMax, kMax},
      {"8Ei", "9223372036854775807", kMax, kMax},
      {"-9Ei", "-9223372036854775807", -kMax, -kMax},
      {"10E", "9223372036854775807", kMax, kMax},
      {"-1e100", "-9223372036854775807", -kMax, -kMax},
      {"123456789012345678901234567890Ki", "9223372036854775807", kMax, kMax},
      // Numbers without a digit, which upstream reads as zero in these places only.
      {"+", "0", 0, 0},
      {"-.", "0", 0, 0},
      {"k", "0", 0, 0},
      {".Ki", "0", 0, 0},
      {"e3", "0", 0, 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto quantity = Quantity::parse(c.given);
    REQUIRE(quantity);
    CHECK(quantity->to_string() == c.canonical);
    CHECK(quantity->value() == c.value);
    CHECK(quantity->milli_value() == c.milli);
    CHECK(Quantity::parse(c.canonical).value() == *quantity);
  }
}

TEST_CASE("What the API server rejects is rejected", "[quantity]") {
  const std::vector<std::string> cases = {
      "",     " ",    "1 ",    " 1",    "1 0", "a",    "x1",   "..5",
      "1..5", "1,5",  "1i",    "1mi",   "1K",  "1iK",  "1Kii", "0x1",
      "1G1",  "1m5",  "1k-",   "1M-0",  "1e",  "1eE",  "1ee1", "1e1e",
      "1E+",  "1e-",  "1e+-5", "++5",   "inf", "nan",  ".Ei",  "+Ei",
      "Pi",   "e-10", "1\xd9", "0.1mi", ".5i", "1E3k", "1\n",  "1e99999999999999999999",
      "1k1",  "12e",  "0x10"};
  for (const auto& text : cases) {
    CAPTURE(text);
    const auto quantity = Quantity::parse(text);
    REQUIRE_FALSE(quantity);
    CHECK(quantity.error().kind == ErrorKind::kDecode);
    CHECK(quantity.error().message.find("'" + text + "'") == 0);
  }
  CHECK(Quantity::parse(std::string(1000, 'x')).error().message.size() < 200);
}

TEST_CASE("Integers become quantities", "[quantity]") {
  CHECK(Quantity::of(8) == Quantity::parse("8").value());
  CHECK(Quantity::of_milli(1500) == Quantity::parse("1500m").value());
  CHECK(Quantity::of(kMax).value() == kMax);
  CHECK(Quantity::of(std::numeric_limits<std::int64_t>::min()) == Quantity::of(-kMax));
  CHECK(Quantity().is_zero());
  CHECK_FALSE(Quantity::of_milli(1).is_zero());
}

TEST_CASE("Sums are exact and hold at the limits", "[quantity]") {
  const auto tenth = Quantity::parse("100u").value();
  Quantity sum;
  for (int i = 0; i < 10; ++i) sum = sum + tenth;
  CHECK(sum == Quantity::of_milli(1));
  CHECK(Quantity::of(kMax) + Quantity::of(kMax) == Quantity::of(kMax));
  CHECK(Quantity::of(-kMax) + Quantity::of(-1) == Quantity::of(-kMax));
  CHECK(Quantity::of_milli(999) < Quantity::of(1));
}

}  // namespace
}  // namespace k8s
