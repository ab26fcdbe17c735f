#include "k8s-client/yaml/object_reader.h"

#include "tests/support/catch.h"

#include <functional>
#include <string>
#include <vector>

namespace k8s::yaml {
namespace {

using Read = std::function<void(ObjectReader&)>;

// What a reader of `text` complains about; empty when it is content.
std::string complaint_about(const std::string& text, const Read& read) {
  const auto documents = parse(text, "f");
  REQUIRE(documents);
  ObjectReader reader(documents->front(), "f");
  read(reader);
  const auto error = reader.finish();
  return error ? error->message : "";
}

TEST_CASE("Fields of the right type are read", "[yaml]") {
  const auto documents = parse(
      "s: text\nb: on\ni: -3\nd: 2\nw: two\nl: [a, b]\no: {x: 1}\nm: [{z: 1}, {z: 2}]\nr: null\n",
      "f");
  REQUIRE(documents);
  ObjectReader reader(documents->front(), "f");
  CHECK(reader.string("s") == "text");
  CHECK(reader.boolean("b") == true);
  CHECK(reader.integer("i", {.min = -3, .max = 0}) == -3);
  CHECK(reader.number("d") == 2.0);
  CHECK(reader.one_of("w", {"one", "two"}) == "two");
  CHECK(reader.strings("l") == std::vector<std::string>{"a", "b"});
  std::int64_t sum = 0;
  reader.object("o", [&](ObjectReader& o) { sum += o.integer("x").value_or(0); });
  reader.objects("m", [&](ObjectReader& o) { sum += o.integer("z").value_or(0); });
  CHECK(sum == 4);
  CHECK_FALSE(reader.string("r"));
  CHECK_FALSE(reader.string("absent"));
  CHECK_FALSE(reader.finish());
}

TEST_CASE("A complaint names file, line, key path and the way out", "[yaml]") {
  struct Case {
    std::string given;
    Read read;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"a: no", [](auto& r) { r.string("a"); },
       "f:1: a: must be a string, found a boolean; put it in quotes"},
      {"a: \"true\"", [](auto& r) { r.boolean("a"); },
       "f:1: a: must be true or false, found a string 'true'"},
      {"a: 1.5", [](auto& r) { r.integer("a"); }, "f:1: a: must be an integer, found a number"},
      {"a: 9223372036854775808", [](auto& r) { r.integer("a"); },
       "f:1: a: must be an integer, found a number"},
      {"a: 0", [](auto& r) { r.integer("a", {.min = 1}); }, "f:1: a: must be at least 1, found 0"},
      {"a: 70000", [](auto& r) { r.integer("a", {.min = 1, .max = 65535}); },
       "f:1: a: must be at least 1 and at most 65535, found 70000"},
      {"a: [1]", [](auto& r) { r.number("a"); }, "f:1: a: must be a number, found a list"},
      {"a: c",
       [](auto& r) {
         r.one_of("a", {"x", "y"});
       },
       "f:1: a: must be one of x, y; found 'c'"},
      {"a: b", [](auto& r) { r.strings("a"); },
       "f:1: a: must be a list of strings, found a string 'b'"},
      {"a:\n- b\n- 3", [](auto& r) { r.strings("a"); },
       "f:3: a[1]: must be a string, found an integer; put it in quotes"},
      {"a: b", [](auto& r) { r.object("a", [](auto&) {}); },
       "f:1: a: must be a map, found a string"},
      {"a: {b: 1}", [](auto& r) { r.objects("a", [](auto&) {}); },
       "f:1: a: must be a list, found a map"},
      {"a:\n- b: {c: 1}",
       [](auto& r) {
         r.objects("a", [](auto& item) { item.object("b", [](auto& b) { b.string("d"); }); });
       },
       "f:2: a[0].b.c: unknown field; known here: d"},
      {"[1]", [](auto&) {}, "f:1: must be a map, found a list"},
      {"x: 1\na: 2\nz: 3", [](auto& r) { r.integer("a"); }, "f:1: x: unknown field; known here: a"},
      {"a: {}", [](auto& r) { r.object("a", [](auto& a) { a.complain("b", "is required"); }); },
       "f:1: a.b: is required"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    CHECK(complaint_about(c.given, c.read) == c.want);
  }
}

TEST_CASE("The first complaint is kept, and later reads return defaults", "[yaml]") {
  CHECK(complaint_about("a: 1\nb: x\nc: unread", [](ObjectReader& reader) {
          CHECK_FALSE(reader.string("a"));
          CHECK_FALSE(reader.string("b"));
          reader.object("b", [](ObjectReader&) { FAIL("read after a complaint"); });
        }) == "f:1: a: must be a string, found an integer; put it in quotes");
}

TEST_CASE("Without a file a complaint begins with the path", "[yaml]") {
  const auto documents = parse("a: {c: 1}", "f");
  REQUIRE(documents);
  ObjectReader reader(documents->front(), "");
  reader.object("a", [](ObjectReader& a) { a.string("b"); });
  const auto error = reader.finish();
  REQUIRE(error);
  CHECK(error->message == "a.c: unknown field; known here: b");
}

TEST_CASE("Unknown fields pass where they are allowed", "[yaml]") {
  CHECK(
      complaint_about("a: 1\nb: 2", [](ObjectReader& reader) { reader.allow_unknown(); }).empty());
}

TEST_CASE("null reads as an empty map", "[yaml]") {
  const Value nothing;
  ObjectReader reader(nothing, "f");
  CHECK_FALSE(reader.string("a"));
  CHECK_FALSE(reader.finish());
}

}  // namespace
}  // namespace k8s::yaml
