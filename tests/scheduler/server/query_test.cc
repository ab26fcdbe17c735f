#include "scheduler/server/query.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using sched::server::parse_query;
using sched::server::Query;

TEST_CASE("parameters are decoded") {
  struct Case {
    std::string given;
    Query want;
  };
  for (const Case& c : std::vector<Case>{
           {"", {}},
           {"&&", {}},
           {"a=1", {{"a", "1"}}},
           {"a=1&b=2", {{"a", "1"}, {"b", "2"}}},
           {"a=1&&b=2&", {{"a", "1"}, {"b", "2"}}},
           {"a", {{"a", ""}}},
           {"a=", {{"a", ""}}},
           {"=1", {{"", "1"}}},
           {"a=b=c", {{"a", "b=c"}}},
           {"a=b?c", {{"a", "b?c"}}},
           {"a=one+two%2Bthree%20four", {{"a", "one two+three four"}}},
           {"%61%3d=%c3%A9%26", {{"a=", "\xc3\xa9&"}}},
           {"a=%00", {{"a", std::string(1, '\0')}}},
       }) {
    const auto got = parse_query(c.given);
    CAPTURE(c.given);
    REQUIRE(got);
    CHECK(*got == c.want);
  }
}

TEST_CASE("what cannot be decoded, or is there twice, is refused in words") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::string kDigits = ": behind a % there must be two hexadecimal digits";
  for (const Case& c : std::vector<Case>{
           {"a=%", "\"a=%\"" + kDigits},
           {"a=1&b=%2", "\"b=%2\"" + kDigits},
           {"a=%2&b=1", "\"a=%2\"" + kDigits},
           {"%zz=1", "\"%zz=1\"" + kDigits},
           {"a=%-1", "\"a=%-1\"" + kDigits},
           {"a=% 1", "\"a=% 1\"" + kDigits},
           {"a=1&a=1", "\"a\" stands there more than once"},
           {"a=1&%61=2", "\"%61\" stands there more than once"},
           {std::string(200, '%'), '"' + std::string(128, '%') + "…\"" + kDigits},
       }) {
    const auto got = parse_query(c.given);
    CAPTURE(c.given);
    REQUIRE_FALSE(got);
    CHECK(got.error() == c.want);
  }
}
