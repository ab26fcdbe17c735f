#include "k8s-client/auth/base64.h"

#include "tests/support/catch.h"

#include <random>

using k8s::auth::decode_base64;
using k8s::auth::encode_base64;

TEST_CASE("base64: the vectors of RFC 4648") {
  struct Case {
    std::string_view given;
    std::string_view want;
  };
  for (const auto& [given, want] : std::initializer_list<Case>{{"", ""},
                                                               {"Zg==", "f"},
                                                               {"Zm8=", "fo"},
                                                               {"Zm9v", "foo"},
                                                               {"Zm9vYg==", "foob"},
                                                               {"Zm9vYmE=", "fooba"},
                                                               {"Zm9v\nYmFy\r\n", "foobar"},
                                                               {"+/+/", "\xfb\xff\xbf"}}) {
    CAPTURE(given);
    CHECK(decode_base64(given) == std::string(want));
  }
}

TEST_CASE("base64: what is not Base64") {
  for (const std::string_view given :
       {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v=", "=Zm9", "Zg==Zg==", "Zm 9", "Zm9-",
        "Zm9_", "Zm9v\tYmFy", "Zm9\xff"}) {
    CAPTURE(given);
    CHECK(decode_base64(given) == std::nullopt);
  }
}

TEST_CASE("base64: random bytes survive") {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(random() & 0xff));
    std::string bits;
    for (const char c : bytes) {
      for (int bit = 7; bit >= 0; --bit) bits.push_back((c >> bit & 1) != 0 ? '1' : '0');
    }
    while (bits.size() % 6 != 0) bits.push_back('0');
    std::string text;
    for (std::size_t at = 0; at < bits.size(); at += 6) {
      text.push_back(kAlphabet[std::stoul(bits.substr(at, 6), nullptr, 2)]);
    }
    while (text.size() % 4 != 0) text.push_back('=');
    CHECK(decode_base64(text) == bytes);
    CHECK(encode_base64(bytes) == text);
  }
}
