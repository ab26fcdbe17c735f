#include "scheduler/base/short_flags.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using Arguments = std::vector<std::string>;

TEST_CASE("A flag of one letter may have its value behind =") {
  using sched::with_short_flags_split;
  CHECK(with_short_flags_split({"queue", "-n=team", "-o=json"}) ==
        Arguments{"queue", "-n", "team", "-o", "json"});
  CHECK(with_short_flags_split({"-v=4", "-v4", "-v", "4"}) ==
        Arguments{"-v", "4", "-v4", "-v", "4"});
  // No value is one, too, and a value may have a = of its own.
  CHECK(with_short_flags_split({"-n=", "-f=a=b"}) == Arguments{"-n", "", "-f", "a=b"});
}

TEST_CASE("Everything else stays as it is") {
  const Arguments others{"--v=4", "-", "--", "-n=team", "", "-=x"};
  CHECK(sched::with_short_flags_split(others) == others);
  const Arguments before{"a=b", "-1=x", "-no=x", "=", "-n"};
  CHECK(sched::with_short_flags_split(before) == before);
}
