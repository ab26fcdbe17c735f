#include "k8s-client/yaml/value.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace k8s::yaml {
namespace {

// The one document of `text` as JSON, or the error's message.
std::string json_of(const std::string& text) {
  const auto documents = parse(text, "f");
  if (!documents) return documents.error().message;
  if (documents->size() != 1) return std::to_string(documents->size()) + " documents";
  return to_json(documents->front());
}

TEST_CASE("Scalars mean what Kubernetes' decoder reads", "[yaml]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"a: true", R"({"a":true})"},
      {"a: \"true\"", R"({"a":"true"})"},
      {"a: 'yes'", R"({"a":"yes"})"},
      {"a: !!str 12", R"({"a":"12"})"},
      {"a: yes", R"({"a":true})"},  // YAML 1.1, as go.yaml.in/yaml/v2
      {"a: Off", R"({"a":false})"},
      {"a: n", R"({"a":false})"},
      {"a: yEs", R"({"a":"yEs"})"},
      {"a:", R"({"a":null})"},
      {"a: ~", R"({"a":null})"},
      {"a: Null", R"({"a":null})"},
      {"a: \"\"", R"({"a":""})"},
      {"a: caf\xc3\xa9", "{\"a\":\"caf\xc3\xa9\"}"},
      {R"(a: "\u0085\u00a0")", "{\"a\":\"\xc2\x85\xc2\xa0\"}"},
      {"a: 0x10", R"({"a":16})"},
      {"a: 010", R"({"a":8})"},
      {"a: 0o17", R"({"a":15})"},
      {"a: -0b11", R"({"a":-3})"},
      {"a: 1_000", R"({"a":1000})"},
      {"a: +7", R"({"a":7})"},
      {"a: 08", R"({"a":8})"},
      {"a: 9223372036854775807", R"({"a":9223372036854775807})"},
      {"a: -9223372036854775808", R"({"a":-9223372036854775808})"},
      {"a: 9223372036854775808", R"({"a":9.223372036854776e+18})"},
      {"a: 1.5", R"({"a":1.5})"},
      {"a: .5", R"({"a":0.5})"},
      {"a: 1e3", R"({"a":1000})"},
      {"a: -0.0", R"({"a":0})"},
      {R"(a: "\x7f")", R"({"a":"\u007f"})"},
      {"a: 1e999", R"({"a":"1e999"})"},
      {"a: 1.2.3", R"({"a":"1.2.3"})"},
      {"a: 500m", R"({"a":"500m"})"},
      {"a: 2024-01-02", R"({"a":"2024-01-02"})"},
      {"a: -", "f:1: not YAML: illegal block entry"},
      {"a: .inf", "f:1: '.inf' is not a number that JSON knows"},
      {"a: !!binary aGk=", "f:1: the tag !!binary is not supported"},
      {"a: !mine b", "f:1: the tag !mine is not supported"},
      {"a: \"q\\\"\\n\\u00e9\"", "{\"a\":\"q\\\"\\u000a\u00e9\"}"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    CHECK(json_of(c.given) == c.want);
  }
}

TEST_CASE("Of a secret text no key and no value is told", "[yaml]") {
  const std::vector<std::string> texts = {"hidden: 1\nhidden: 2", "a: !hidden b", "a: hidden: b",
                                          "a: *hidden", "a: 'hidden"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto documents = parse(text, "f", Contents::kSecret);
    REQUIRE_FALSE(documents);
    CHECK_THAT(documents.error().message, Catch::StartsWith("f:"));
    CHECK_THAT(documents.error().message, !Catch::Contains("hidden"));
  }
}

TEST_CASE("What YAML forbids or hides is refused with its line", "[yaml]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"a: 1\nb: 2\na: 3\n", "f:3: a: the key stands here twice"},
      {"x:\n  - {k: 1, k: 2}\n", "f:2: x[0].k: the key stands here twice"},
      {"true: 1", "f:1: a key must be a string, found a boolean; put it in quotes"},
      {"8080: x", "f:1: a key must be a string, found an integer; put it in quotes"},
      {"? [a]\n: b", "f:1: a key must be a string, not a list or a map"},
      {"a: &x {b: 1}\nc:\n  <<: *x\n",
       "f:3: merge keys (<<) are not supported; write the fields out"},
      {"a: &x [*x]", "f:1: the alias names a value that contains it"},
      {"a: 'b", "f:1: not YAML: illegal EOF in scalar"},
      {"a: 1\n b: 2", "f:2: not YAML: illegal map value"},
      {"- a\nb: c",
       "f:2: unexpected text after the end of the document (indented wrongly? a new "
       "document starts with ---)"},
      {"{a: 1} b",
       "f:1: unexpected text after the end of the document (indented wrongly? a new "
       "document starts with ---)"},
      {std::string("a: 1\nb: \x04 2\n"), "f:2: a control character; the file must be UTF-8 text"},
      {"a: 1\nb: caf\xe9\nc: 2",
       "f:2: a byte that is in no character; the file must be UTF-8 text"},
      {R"(a: "b\Nc")",
       "f:1: a backslash before N or _ is not supported; write u0085 or u00a0 behind it"},
      {R"("b\_c": 1)",
       "f:1: a backslash before N or _ is not supported; write u0085 or u00a0 behind it"},
      {"a: \xff", "f:1: a byte that is in no character; the file must be UTF-8 text"},
      {"a: 1\n# half of a pair: \xed\xa0\x80",
       "f:2: a byte that is in no character; the file must be UTF-8 text"},
      {std::string("a\0b", 3), "f:1: a control character; the file must be UTF-8 text"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    CHECK(json_of(c.given) == c.want);
  }
}

// Since 0.8 yaml-cpp says, too, which.
TEST_CASE("An alias of nothing is an error", "[yaml]") {
  CHECK_THAT(json_of("a: *nothing"),
             Catch::StartsWith("f:1: not YAML: the referenced anchor is not defined"));
}

TEST_CASE("A document cut off is never half a document", "[yaml]") {
  for (const std::string text : {"a: [1, 2\n", "a: {b: 1", "{\"a\": \"b", "a: \"b\\", "a: [{"}) {
    CAPTURE(text);
    CHECK_FALSE(parse(text, "f"));
  }
}

TEST_CASE("Hostile documents are bounded", "[yaml]") {
  const auto message = [](const std::string& text) { return json_of(text); };
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(message(nested(64)) == nested(64));
  CHECK(message(nested(65)) == "f:1: nested deeper than 64 levels");
  CHECK_FALSE(parse(std::string(100'000, '['), "f"));
  CHECK_FALSE(parse(std::string(100'000, '{'), "f"));

  // Each line is ten times the one before: a million values after six.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  std::string names = "a0";
  for (int i = 1; i < 9; ++i) {
    std::string line = "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) line += (j > 0 ? ",*" : "*") + names + " ";
    names = "a" + std::to_string(i);
    bomb += line + "]\n";
  }
  CHECK(message(bomb).find("more than a million values") != std::string::npos);

  // Those that stand in the text count, too: a hundred thousand, beside the copy that is kept of
  // them and eight by aliases.
  std::string many = "a: &a [x";
  for (int i = 1; i < 100'000; ++i) many += ",x";
  many += "]\nb: [";
  for (int i = 0; i < 8; ++i) many += "*a ,";
  CHECK(message(many + "]").find("more than a million values") != std::string::npos);

  const std::string long_text(1 << 20, 'x');
  std::string wide = "a: &a " + long_text + "\nb: [";
  for (int i = 0; i < 300; ++i) wide += "*a ,";
  CHECK(message(wide + "1]").find("too large once its aliases are written out") !=
        std::string::npos);
  CHECK(message(std::string((16 << 20) + 1, ' ')) == "f: larger than 16 MiB");
}

TEST_CASE("Values know their line and key path", "[yaml]") {
  const auto documents = parse("profiles:\n- plugins:\n    score:\n    - name: A\n", "f");
  REQUIRE(documents);
  const Value* profiles = documents->front().find("profiles");
  REQUIRE(profiles != nullptr);
  const Value* score = profiles->list()->front().find("plugins")->find("score");
  const Value& name = *score->list()->front().find("name");
  CHECK(name.path == "profiles[0].plugins.score[0].name");
  CHECK(name.line == 4);
  CHECK(documents->front().path.empty());
}

TEST_CASE("An alias is a copy that stands where it is used", "[yaml]") {
  const auto documents = parse("a: &x {b: [1]}\nc.d/e: *x\n*k : 1\n", "f");
  CHECK_FALSE(documents);
  const auto good = parse("a: &x {b: [1]}\nc.d/e: *x\n", "f");
  REQUIRE(good);
  const Value* copy = good->front().find("c.d/e");
  CHECK(copy->path == "[c.d/e]");
  CHECK(copy->find("b")->list()->front().path == "[c.d/e].b[0]");
}

TEST_CASE("Documents are separated by ---, empty ones left out", "[yaml]") {
  const auto documents = parse("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n", "f");
  REQUIRE(documents);
  REQUIRE(documents->size() == 2);
  CHECK(to_json(documents->at(1)) == R"({"b":2})");
  CHECK(parse("", "f")->empty());
  CHECK(parse("# only a comment\n", "f")->empty());
}

TEST_CASE("JSON is YAML", "[yaml]") {
  const std::string json = R"({"a":[1,-2.5,true,null,"x: y"],"b":{"c":""}})";
  CHECK(json_of(json) == json);
}

TEST_CASE("A file that cannot be read is an error with its name", "[yaml]") {
  CHECK(parse_file("/nonexistent/x").error().message ==
        "/nonexistent/x: cannot be read: No such file or directory");
  CHECK(parse_file("/").error().message == "/: cannot be read: Is a directory");

  const auto file = std::filesystem::path(tests::scratch_dir()) / "yaml_parse_test.yaml";
  std::ofstream(file) << "a: 1\n";
  CHECK(to_json(parse_file(file.string())->front()) == R"({"a":1})");
  std::ofstream(file, std::ios::trunc).close();
  CHECK(parse_file(file.string())->empty());
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace k8s::yaml
