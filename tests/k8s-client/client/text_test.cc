// Small functions on text that many use.
#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"
#include "k8s-client/shown.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <optional>
#include <string>

namespace k8s {
namespace {

TEST_CASE("of capital letters alone there are small ones", "[client]") {
  CHECK(lower_case("@AZ[`az{09") == "@az[`az{09");
  CHECK(equal_without_case("Retry-After", "rETRY-aFTER"));
  CHECK_FALSE(equal_without_case("a", "ab"));
  CHECK_FALSE(equal_without_case("ab", "a"));
  CHECK_FALSE(equal_without_case("a", "b"));
}

TEST_CASE("text is trimmed at both ends", "[client]") {
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed(" \n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed("xax", "x") == "a");
}

TEST_CASE("of a long text the beginning is shown, and no part of a character", "[client]") {
  CHECK(shown("abcd", 4) == "abcd");
  CHECK(shown("abcde", 4) == "abcd…");
  CHECK(shown("abc\xc3\xa9", 4) == "abc…");
  CHECK(shown("ab\xc3\xa9"
              "d",
              4) == "ab\xc3\xa9…");
  CHECK(shown("\x80\x80\x80", 2) == "…");
}

TEST_CASE("a number is read from the whole of a text", "[client]") {
  CHECK(parse_number<std::int64_t>("-12") == -12);
  for (const char* none : {"", " 1", "1 ", "1x", "x", "9223372036854775808"}) {
    CHECK(parse_number<std::int64_t>(none) == std::nullopt);
  }
}

}  // namespace
}  // namespace k8s
