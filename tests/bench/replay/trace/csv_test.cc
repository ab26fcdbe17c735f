#include "bench/replay/trace/csv.h"

#include "tests/support/catch.h"

namespace bench::replay {
namespace {

using Texts = std::vector<std::vector<std::string>>;

// All rows, or the error as the only field of a last row.
Texts rows_of(std::string_view text) {
  CsvReader reader(text, "f");
  Texts rows;
  while (true) {
    const auto row = reader.next();
    if (!row) {
      rows.push_back({row.error().message});
      return rows;
    }
    if (!*row) return rows;
    rows.emplace_back();
    for (const CsvField& field : **row) rows.back().push_back(field.text);
  }
}

TEST_CASE("rows are split as RFC 4180 has it") {
  struct Case {
    std::string name;
    std::string_view text;
    Texts want;
  };
  const std::vector<Case> cases = {
      {"nothing", "", {}},
      {"one field", "a", {{"a"}}},
      {"LF", "a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}},
      {"CRLF", "a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {"no line end at the end", "a\r\nb\r", {{"a"}, {"b"}}},
      {"empty fields", ",\na,\n", {{"", ""}, {"a", ""}}},
      {"spaces belong to the field", " a , b\n", {{" a ", " b"}}},
      {"a carriage return inside a line", "a\rb,c\n", {{"a\rb", "c"}}},
      {"quoted", "\"a,b\",\"\"\n", {{"a,b", ""}}},
      {"a doubled quote", "\"say \"\"hi\"\"\"\n", {{"say \"hi\""}}},
      {"a line break in quotes", "\"a\r\nb\",c\n", {{"a\r\nb", "c"}}},
      {"quoted at the end", "a,\"b\"", {{"a", "b"}}},
      {"blank lines at the end", "a\n\n\r\n\n", {{"a"}}},
      {"a blank line in the middle", "a\n\nb\n", {{"a"}, {""}, {"b"}}},
      {"an open quote",
       "a\nb,\"c\nd",
       {{"a"}, {"f:2:3: found a quoted field without its closing quote"}}},
      {"text behind a quote",
       "\"a\"b\n",
       {{"f:1:4: found text behind a closing quote, want a comma or the end of the line"}}},
      {"a quote inside a field",
       "ab\"c\n",
       {{"f:1:3: found a quote inside a field; quote the whole field and double the quote"}}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) { CHECK(rows_of(c.text) == c.want); }
  }
}

TEST_CASE("a field knows where it stood, behind line breaks in quotes as well") {
  CsvReader reader("a,\"x\ny\",b\nc\n", "f");
  const auto first = reader.next();
  REQUIRE(first);
  REQUIRE(first->has_value());
  REQUIRE((*first)->size() == 3);
  CHECK((**first)[1].line == 1);
  CHECK((**first)[1].column == 3);
  CHECK((**first)[2].line == 2);
  CHECK((**first)[2].column == 4);
  const auto second = reader.next();
  REQUIRE(second);
  REQUIRE(second->has_value());
  CHECK((**second)[0].line == 3);
  CHECK((**second)[0].column == 1);
}

}  // namespace
}  // namespace bench::replay
