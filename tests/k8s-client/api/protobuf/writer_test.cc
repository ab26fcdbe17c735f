// Messages are written as message.h reads them, and as others do.
#include "k8s-client/api/protobuf/writer.h"

#include "k8s-client/api/protobuf/message.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace k8s::protobuf {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

// The examples of protobuf.dev/programming-guides/encoding.
TEST_CASE("protobuf's own examples", "[encode]") {
  std::string out;
  Writer writer(out);
  SECTION("a number") {
    writer.number(1, 150);
    CHECK(out == "\x08\x96\x01"s);
  }
  SECTION("a negative number has ten bytes") {
    writer.number(1, -2);
    CHECK(out == "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  }
  SECTION("a text") {
    writer.text(2, "testing");
    CHECK(out == "\x12\x07testing"s);
  }
  SECTION("a message in it") {
    writer.message(3, [&] { writer.number(1, 150); });
    CHECK(out == "\x1a\x03\x08\x96\x01"s);
  }
}

TEST_CASE("empty texts are left out, empty messages are not", "[encode]") {
  std::string out;
  Writer writer(out);
  writer.text(1, "");
  writer.message(2, [] {});
  writer.map(3, {});
  CHECK(out == "\x12\x00"s);
}

TEST_CASE("a text that is not UTF-8 is repaired", "[encode]") {
  std::string out;
  Writer(out).text(1,
                   "a\xff"
                   "b");
  CHECK(out ==
        "\x0a\x05"
        "a\xef\xbf\xbd"
        "b"s);
}

// Lengths of one, two and three bytes, at every depth.
TEST_CASE("what is written is read", "[encode]") {
  for (const std::size_t size : {1U, 127U, 128U, 16'383U, 16'384U, 70'000U}) {
    CAPTURE(size);
    const std::string long_text(size, 'x');
    const std::int64_t number = std::numeric_limits<std::int64_t>::max() - std::int64_t(size);
    std::string out;
    Writer writer(out);
    writer.message(500, [&] {
      writer.message(1, [&] {
        writer.text(7, long_text);
        writer.number(8, number);
      });
      writer.map(2, {{"empty", ""}, {"k", long_text}});
    });

    std::string text;
    std::int64_t got = 0;
    std::vector<std::pair<std::string, std::string>> map;
    Failure failure;
    const bool ok = Value(out, failure).fields([&](std::uint32_t outer, Value whole) {
      CHECK(outer == 500);
      return whole.fields([&](std::uint32_t field, Value value) {
        if (field == 2) return read_entry(value, map);
        return value.fields([&](std::uint32_t inner, Value last) {
          return inner == 7 ? read(last, text) : read(last, got);
        });
      });
    });
    CHECK(ok);
    CHECK((text == long_text));
    CHECK(got == number);
    CHECK((map == decltype(map){{"empty", ""}, {"k", long_text}}));
  }
}

TEST_CASE("times have whole seconds and what is over, also before 1970", "[encode]") {
  struct Case {
    Timestamp time;
    std::int64_t seconds;
    std::int64_t nanos;
  };
  for (const Case& c : {Case{Timestamp(1'500'000us), 1, 500'000'000}, Case{Timestamp(0us), 0, 0},
                        Case{Timestamp(-1us), -1, 999'999'000}}) {
    std::string got;
    std::string want;
    Writer(got).micro_time(2, c.time);
    Writer writer(want);
    writer.message(2, [&] {
      writer.number(1, c.seconds);
      writer.number(2, c.nanos);
    });
    CHECK(got == want);
  }
}

}  // namespace
}  // namespace k8s::protobuf
