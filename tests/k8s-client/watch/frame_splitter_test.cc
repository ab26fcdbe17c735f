#include "k8s-client/watch/frame_splitter.h"

#include "tests/support/catch.h"

#include <random>
#include <vector>

namespace k8s {
namespace {

using Frames = std::vector<std::string>;
using namespace std::string_literals;

std::string framed(const std::string& message) {
  const auto size = message.size();
  std::string frame;
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(size >> shift & 0xffU);
  return frame + message;
}

Frames split_frames(const std::vector<std::string>& chunks, bool* rest = nullptr) {
  FrameSplitter splitter;
  Frames frames;
  for (const std::string& chunk : chunks) {
    const auto fed = splitter.feed(chunk, [&frames](std::string_view frame) {
      frames.emplace_back(frame);
      return true;
    });
    REQUIRE(fed);
  }
  if (rest != nullptr) *rest = splitter.has_rest();
  return frames;
}

}  // namespace

TEST_CASE("a stream is cut into frames wherever its chunks are cut", "[watch]") {
  struct Case {
    const char* name;
    std::vector<std::string> chunks;
    Frames want;
    bool rest;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {}, false},
      {"one frame", {framed("one")}, {"one"}, false},
      {"an empty frame", {framed("")}, {""}, false},
      {"two in one chunk", {framed("one") + framed("two")}, {"one", "two"}, false},
      {"half a length", {"\0\0"s}, {}, true},
      {"a length and nothing else", {"\0\0\0\3"s}, {}, true},
      {"a length in two chunks", {"\0\0"s, "\0\3one"s}, {"one"}, false},
      {"an empty frame in two chunks", {"\0\0"s, "\0\0"s}, {""}, false},
      {"the end of one and the start of the next",
       {"\0\0\0\3o"s, "ne\0\0"s, "\0\3two"s},
       {"one", "two"},
       false},
      {"empty chunks", {"", framed("one"), ""}, {"one"}, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      bool rest = false;
      CHECK(split_frames(c.chunks, &rest) == c.want);
      CHECK(rest == c.rest);
    }
  }
}

TEST_CASE("any cut of a stream gives the same frames", "[watch]") {
  const std::string stream =
      framed("{}") + framed("") + framed(std::string(300, 'x')) + framed("\n\0\n"s);
  const Frames want = split_frames({stream});
  REQUIRE(want.size() == 4);
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> chunks;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t length = 1 + random() % 9;
      chunks.push_back(stream.substr(at, length));
      at += length;
    }
    REQUIRE(split_frames(chunks) == want);
  }
}

TEST_CASE("a frame longer than allowed is an error as soon as its length is known", "[watch]") {
  const std::vector<std::vector<std::string>> streams = {
      {"\0\0\0\13"s}, {"\xff\xff\xff\xff"s}, {"\0\0"s, "\0\13"s}, {"\0\0"s, "\0\13x"s}};
  for (const auto& chunks : streams) {
    FrameSplitter splitter(10);
    Result<void> last;
    for (const std::string& chunk : chunks) {
      last = splitter.feed(chunk, [](std::string_view) { return true; });
    }
    REQUIRE_FALSE(last);
    CHECK(last.error().kind == ErrorKind::kDecode);
  }
}

TEST_CASE("frames behind the one that says stop are not delivered", "[watch]") {
  FrameSplitter splitter;
  Frames frames;
  REQUIRE(splitter.feed(framed("one") + framed("two") + framed("three"), [&](std::string_view f) {
    frames.emplace_back(f);
    return frames.size() < 2;
  }));
  CHECK(frames == Frames{"one", "two"});
}

}  // namespace k8s
