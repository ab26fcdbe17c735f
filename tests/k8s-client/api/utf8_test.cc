#include "k8s-client/api/utf8.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

TEST_CASE("Each byte that belongs to no character of UTF-8 is replaced", "[decode]") {
  const std::string bad = "\xef\xbf\xbd";
  struct Case {
    const char* name;
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"nothing", "", ""},
      {"plain", "a\x7f", "a\x7f"},
      {"two bytes", "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf"},
      {"three bytes", "\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf",
       "\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf"},
      {"four bytes", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
      {"no first byte", "a\x80\xff", "a" + bad + bad},
      {"cut off", "\xe2\x82", bad + bad},
      {"cut off by a plain one", "\xf0\x90\x80z", bad + bad + bad + "z"},
      {"longer than needed", "\xc1\xbf\xe0\x9f\xbf\xf0\x8f\xbf\xbf",
       bad + bad + bad + bad + bad + bad + bad + bad + bad},
      {"half of a pair", "\xed\xa0\x80", bad + bad + bad},
      {"beyond the last character", "\xf4\x90\x80\x80\xf5", bad + bad + bad + bad + bad},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(repaired(c.given) == c.want);
      CHECK(is_utf8(c.given) == (c.given == c.want));
    }
  }
}

}  // namespace
}  // namespace k8s
