#include "k8s-client/watch/line_splitter.h"

#include "tests/support/catch.h"

#include <random>
#include <vector>

namespace k8s {
namespace {

using Lines = std::vector<std::string>;

Lines split_lines(const std::vector<std::string>& chunks, bool* rest = nullptr) {
  LineSplitter splitter;
  Lines lines;
  for (const std::string& chunk : chunks) {
    const auto fed = splitter.feed(chunk, [&lines](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
    REQUIRE(fed);
  }
  if (rest != nullptr) *rest = splitter.has_rest();
  return lines;
}

struct SplitCase {
  const char* name;
  std::vector<std::string> chunks;
  Lines want;
  bool rest;
};

TEST_CASE("a stream is cut into lines wherever its chunks are cut", "[watch]") {
  const std::vector<SplitCase> cases = {
      {"nothing", {}, {}, false},
      {"one line", {"{\"a\":1}\n"}, {"{\"a\":1}"}, false},
      {"two lines in one chunk", {"one\ntwo\n"}, {"one", "two"}, false},
      {"half a line", {"on"}, {}, true},
      {"a line in three chunks", {"o", "n", "e\n"}, {"one"}, false},
      {"the end of one and the start of the next", {"on", "e\ntw", "o\n"}, {"one", "two"}, false},
      {"the line's end in a chunk of its own", {"one", "\n", "two\n"}, {"one", "two"}, false},
      {"empty lines are skipped", {"\n\none\n\n", "\n"}, {"one"}, false},
      {"carriage returns are cut off", {"one\r\ntwo\r", "\n\r\n"}, {"one", "two"}, false},
      {"empty chunks", {"", "one", "", "\n", ""}, {"one"}, false},
  };
  for (const SplitCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      bool rest = false;
      CHECK(split_lines(c.chunks, &rest) == c.want);
      CHECK(rest == c.rest);
    }
  }
}

TEST_CASE("any cut of a stream gives the same lines", "[watch]") {
  const std::string stream = "{\"type\":\"ADDED\"}\n{}\n\nthird line, rather longer\r\nx\n";
  const Lines want = split_lines({stream});
  REQUIRE(want.size() == 4);
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> chunks;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t length = 1 + random() % 7;
      chunks.push_back(stream.substr(at, length));
      at += length;
    }
    CAPTURE(chunks);
    REQUIRE(split_lines(chunks) == want);
  }
}

TEST_CASE("a line longer than allowed is an error, in one chunk or in many", "[watch]") {
  const std::vector<std::vector<std::string>> streams = {
      {"12345678901"}, {"12345678901\n"}, {"12345", "67890", "1"}, {"12345", "678901\n"}};
  for (const auto& chunks : streams) {
    CAPTURE(chunks);
    LineSplitter splitter(10);
    Result<void> last;
    int lines = 0;
    for (const std::string& chunk : chunks) {
      last = splitter.feed(chunk, [&lines](std::string_view) { return ++lines > 0; });
    }
    REQUIRE_FALSE(last);
    CHECK(last.error().kind == ErrorKind::kDecode);
    CHECK(lines == 0);
  }
  LineSplitter splitter(10);
  CHECK(splitter.feed("1234567890\n", [](std::string_view) { return true; }));
}

TEST_CASE("lines behind the one that says stop are not delivered", "[watch]") {
  LineSplitter splitter;
  Lines lines;
  REQUIRE(splitter.feed("one\ntwo\nthree\n", [&lines](std::string_view line) {
    lines.emplace_back(line);
    return lines.size() < 2;
  }));
  CHECK(lines == Lines{"one", "two"});
}

}  // namespace
}  // namespace k8s
