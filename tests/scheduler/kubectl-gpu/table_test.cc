#include "scheduler/kubectl-gpu/table.h"

#include "tests/support/catch.h"

#include <chrono>
#include <sstream>

namespace sched::kubectl {
namespace {

using std::chrono::seconds;

TEST_CASE("a table counts characters, not bytes, and leaves no blanks at the end") {
  Table table({"A", ">N", "B"}, 2);
  table.add({"→→", "1", "x"});
  table.add({"a", "100", ""});
  std::ostringstream out;
  table.print(out, {});
  CHECK(out.str() ==
        "  A     N  B\n"
        "  →→    1  x\n"
        "  a   100\n");
}

TEST_CASE("only a terminal gets colours and bars") {
  CHECK(coloured("a", Colour::kRed, {}) == "a");
  CHECK(coloured("a", Colour::kRed, {.colours = true}) == "\x1b[31ma\x1b[0m");
  CHECK(bar(1, 2, {}).empty());
  const Style terminal{.bars = true};
  CHECK(bar(14, 16, terminal) == "███▌");
  CHECK(bar(0, 16, terminal) == "    ");
  CHECK(bar(16, 16, terminal) == "████");
  CHECK(bar(20, 16, terminal) == "████");  // over-committed
  CHECK(bar(0, 0, terminal).empty());
}

TEST_CASE("ages are given in the unit that a person would choose") {
  const Time now{seconds{1'000'000}};
  CHECK(age(now - seconds{119}, now) == "119s");
  CHECK(age(now - seconds{120}, now) == "2m");
  CHECK(age(now - seconds{7'200}, now) == "2h");
  CHECK(age(now - seconds{200'000}, now) == "2d");
  CHECK(age(now + seconds{5}, now) == "0s");  // clocks differ
}

TEST_CASE("a text is shortened between characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "ab…");
  CHECK(shortened("ä→öü", 3) == "ä→…");
}

}  // namespace
}  // namespace sched::kubectl
