#include "bench/replay/trace/json_pieces.h"

#include "tests/support/catch.h"

#include <fmt/core.h>

namespace bench::replay {
namespace {

// "LINE KIND TEXT" of each piece, or the error.
std::vector<std::string> pieces_of(std::string_view text) {
  const auto pieces = json_pieces(text, "f");
  if (!pieces) return {pieces.error().message};
  std::vector<std::string> told;
  for (const JsonPiece& piece : *pieces) {
    told.push_back(fmt::format("{} {} {}", piece.line, piece.kind, piece.text));
  }
  return told;
}

TEST_CASE("a JSON text falls into its objects") {
  struct Case {
    std::string name;
    std::string_view text;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"nothing", " \n", {}},
      {"an object", R"({"a": 1})", {R"(1  {"a": 1})"}},
      {"an empty one", "{}", {"1  {}"}},
      {"lines", "{\"a\":1}\n\n{\"b\":2}\n", {R"(1  {"a":1})", R"(3  {"b":2})"}},
      {"an array", "[{},\n {\"a\":[]}]", {"1  {}", R"(2  {"a":[]})"}},
      {"an empty array", "[ ]", {}},
      {"a list",
       "{\"kind\": \"List\", \"items\": [\n{\"a\": {}},\n{\"b\": 2}], \"metadata\": {\"x\": null}}",
       {R"(2  {"a": {}})", R"(3  {"b": 2})"}},
      {"a list that says its kind last",
       R"({"items":[{"a":1}],"n":-1.5e3,"t":true,"kind":"PodList"})",
       {R"(1 Pod {"a":1})"}},
      {"a list of nothing", R"({"kind":"NodeList","items":[]})", {}},
      {"items that are no list", R"({"items":{"a":1}})", {R"(1  {"items":{"a":1}})"}},
      {"brackets and quotes in strings",
       R"({"a":"}]\"{","b\\":"\\"}{"c":1})",
       {R"(1  {"a":"}]\"{","b\\":"\\"})", R"(1  {"c":1})"}},
      {"a scalar", "{}\n 7", {"f:2:2: not JSON: want '{'"}},
      {"elements that are no objects", "[{}, 7]", {"f:1:6: want an object, \"{…}\""}},
      {"an open object", "\n{\"a\": 1", {"f:2:8: not JSON: want '}'"}},
      {"an open string", "{\"a\": \"b}", {"f:1:7: not JSON: breaks off in a string"}},
      {"an open list",
       R"({"items": [{"a":1},)",
       {"f:1:11: not JSON: breaks off before this is closed"}},
      {"an open item",
       R"({"items": [{"a":[1})",
       {"f:1:11: not JSON: breaks off before this is closed"}},
      {"a name without quotes", "{a: 1}", {"f:1:2: not JSON: want a quoted name"}},
      {"no colon", R"({"a" 1})", {"f:1:6: not JSON: want ':'"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) { CHECK(pieces_of(c.text) == c.want); }
  }
}

}  // namespace
}  // namespace bench::replay
