// Members of gzip: packed, unpacked, found behind damage.
#include "scheduler/live/record/gzip_member.h"

#include "tests/support/catch.h"

#include <string>

using sched::live::find_gzip_member;
using sched::live::gzip_member;
using sched::live::is_gzip_member;
using sched::live::unpack_member;

TEST_CASE("a member unpacks to its text, whatever stands behind it") {
  for (const std::string& text : {std::string(), std::string("a\n"), std::string(3'000'000, 'x')}) {
    const std::string packed = gzip_member(text);
    CHECK(is_gzip_member(packed));
    const auto unpacked = unpack_member(packed + "something else");
    REQUIRE(unpacked);
    CHECK(unpacked->text == text);
    CHECK(unpacked->size == packed.size());
  }
}

TEST_CASE("a member with one wrong byte, or without its end, is refused") {
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += std::to_string(i * i) + '\n';
  const std::string packed = gzip_member(text);
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, packed.size() / 2,
                               packed.size() - 8 /* the checksum */, packed.size() - 1}) {
    INFO(at);
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    CHECK_FALSE(unpack_member(damaged));
  }
  CHECK_FALSE(unpack_member(packed.substr(0, packed.size() - 1)));
  CHECK_FALSE(unpack_member(""));
}

TEST_CASE("members are found by their mark, and what others have packed is none") {
  const std::string first = gzip_member("first\n");
  const std::string all = first + "rubbish\x1f\x8b\x08\x04 rubbish" + gzip_member("second\n");
  CHECK(find_gzip_member(all, 0) == 0);
  const std::size_t second = find_gzip_member(all, 1);
  REQUIRE(second != std::string::npos);
  CHECK(unpack_member(std::string_view(all).substr(second))->text == "second\n");
  CHECK(find_gzip_member(all, second + 1) == std::string::npos);
  CHECK_FALSE(is_gzip_member("\x1f\x8b\x08 and so on"));
  CHECK_FALSE(is_gzip_member(""));
}
