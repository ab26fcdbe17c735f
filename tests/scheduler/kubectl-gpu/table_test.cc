#include "scheduler/kubectl-gpu/table.h"

#include "tests/support/catch.h"

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>

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
  const auto printed = [](const Style& style) {
    std::ostringstream out;
    TextOut(out) << coloured("a", Colour::kRed, style) << coloured("b", Colour::kNone, style);
    return out.str();
  };
  CHECK(printed({}) == "ab");
  CHECK(printed({.colours = true}) == "\x1b[31ma\x1b[0mb");
  CHECK(bar(1, 2, {}).empty());
  const Style terminal{.bars = true};
  CHECK(bar(14, 16, terminal) == "███▌");
  CHECK(bar(0, 16, terminal) == "    ");
  CHECK(bar(16, 16, terminal) == "████");
  CHECK(bar(20, 16, terminal) == "████");  // over-committed
  CHECK(bar(0, 0, terminal).empty());
}

TEST_CASE("control characters are printed by their numbers, but for those of the program") {
  struct Case {
    std::string_view given;
    std::string_view want;
  };
  for (const auto& [given, want] : {
           Case{"plain, ä → 😀", "plain, ä → 😀"},
           Case{"a\x1b[31mb\nc\td\x7f", "a\\x1b[31mb\\x0ac\\x09d\\x7f"},
           Case{std::string_view("a\0b", 3), "a\\x00b"},
           Case{"\u0080\u009b\u00a0", "\\x80\\x9b\u00a0"},
           Case{"ends in \xc2", "ends in \xc2"},
       }) {
    CHECK(plain(given) == want);
  }
  std::ostringstream out;
  TextOut(out) << "one\n"
               << std::string("two\n") << Coloured{"t\rhree", Colour::kBold} << '\n'
               << 4;
  CHECK(out.str() == "one\ntwo\\x0a\x1b[1mt\\x0dhree\x1b[0m\n4");
  Table table({"A", "B"});
  table.add({"x\ny", "z"});
  out.str("");
  table.print(out, {});
  CHECK(out.str() == "A       B\nx\\x0ay  z\n");
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
