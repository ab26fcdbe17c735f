// A message in protobuf's wire format that is read into a struct, and where in it a reading failed.
//
// A message is a sequence of fields: a number, a wire type, and a varint or a number of bytes,
// which may be a message again. Nothing is copied or allocated while reading; unused fields are
// skipped. After a field that cannot be read, the other fields are read nevertheless, so that as
// much as possible of a bad object is known; the reported failure is that of the first field.
//
// Source: protobuf.dev/programming-guides/encoding. Groups, which are obsolete, are an error.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/quantity.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::protobuf {

// Times are of the years 1 to 9999: JSON has no others.
inline constexpr Timestamp kFirstTime{std::chrono::seconds{-62'135'596'800}};
inline constexpr Timestamp kLastTime{std::chrono::seconds{253'402'300'799}};

struct Failure {
  std::string path;  // numbers of fields: "2.2.8.1"
  std::string text;
};

// The value of one field.
class Value {
 public:
  enum class Type : std::uint8_t { kVarint, kFixed64, kBytes, kFixed32 };

  // A message as a whole.
  Value(std::string_view message, Failure& failure) : bytes_(message), failure_(&failure) {}

  // Calls `each(number, value) -> bool` for every field of the message, in the order of its bytes.
  template <typename Each>
  bool fields(const Each& each) const {
    if (type_ != Type::kBytes) return fail("must be a message");
    std::optional<Failure> first;
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      Value value({}, *failure_);
      const auto number = take(rest, value);
      if (number && each(*number, value)) continue;
      if (number) {
        failed_at(*number);
      } else {
        fail("is cut off or damaged");
        rest = {};
      }
      if (!first) first = *failure_;
    }
    return !first || failed_with(*std::move(first));
  }

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t varint() const { return varint_; }

  // Records why this value cannot be read. Always false, for `return value.fail(…)`.
  bool fail(std::string text) const;

 private:
  // The first field of `rest`, which is removed from it; nullopt if there is no complete one.
  static std::optional<std::uint32_t> take(std::string_view& rest, Value& into);
  void failed_at(std::uint32_t number) const;
  bool failed_with(Failure failure) const;

  Type type_ = Type::kBytes;
  std::uint64_t varint_ = 0;
  std::string_view bytes_;
  Failure* failure_;
};

// Text that is not UTF-8 is read as in JSON: each byte that does not belong to a character becomes
// U+FFFD.
bool read(const Value& value, std::string& out);
bool read(const Value& value, bool& out);
bool read(const Value& value, std::int32_t& out);
bool read(const Value& value, std::int64_t& out);
// metav1.Time. An empty one, which means none, leaves `out` unchanged; so does one out of range,
// because a user who may write a pod's status can set any time.
bool read(const Value& value, std::optional<Timestamp>& out);
bool read(const Value& value, Quantity& out);

// One more entry of a map.
template <typename T>
bool read_entry(const Value& value, std::vector<std::pair<std::string, T>>& out) {
  auto& [key, mapped] = out.emplace_back();
  return value.fields([&key = key, &mapped = mapped](std::uint32_t number, const Value& field) {
    if (number == 1) return read(field, key);
    if (number == 2) return read(field, mapped);
    return true;
  });
}

}  // namespace k8s::protobuf
