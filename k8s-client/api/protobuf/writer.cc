#include "k8s-client/api/protobuf/writer.h"

#include "k8s-client/api/utf8.h"

#include <array>
#include <chrono>

namespace k8s::protobuf {
namespace {

// Wire types.
constexpr std::uint64_t kVarint = 0;
constexpr std::uint64_t kBytes = 2;

// 64 bits, seven to a byte.
struct Varint {
  std::array<char, 10> bytes{};
  std::size_t size = 0;
};

Varint varint(std::uint64_t value) {
  Varint out;
  while (value >= 0x80) {
    out.bytes.at(out.size++) = static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out.bytes.at(out.size++) = static_cast<char>(value);
  return out;
}

void append(std::string& out, std::uint64_t value) {
  const Varint encoded = varint(value);
  out.append(encoded.bytes.data(), encoded.size);
}

void append_tag(std::string& out, std::uint32_t field, std::uint64_t wire_type) {
  append(out, std::uint64_t{field} << 3 | wire_type);
}

}  // namespace

void Writer::text(std::uint32_t field, std::string_view text) {
  if (text.empty()) return;
  if (!is_utf8(text)) return this->text(field, repaired(text));
  append_tag(out_, field, kBytes);
  append(out_, text.size());
  out_.append(text);
}

// Negative numbers have ten bytes, whatever their width.
void Writer::number(std::uint32_t field, std::int64_t value) {
  append_tag(out_, field, kVarint);
  append(out_, static_cast<std::uint64_t>(value));
}

void Writer::micro_time(std::uint32_t field, Timestamp time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::nanoseconds rest = time - seconds;
  message(field, [&] {
    number(1, seconds.time_since_epoch().count());
    number(2, rest.count());
  });
}

void Writer::map(std::uint32_t field, const StringMap& entries) {
  for (const auto& [key, value] : entries) {
    message(field, [&, &key = key, &value = value] {
      text(1, key);
      text(2, value);
    });
  }
}

std::size_t Writer::open(std::uint32_t field) {
  append_tag(out_, field, kBytes);
  return out_.size();
}

void Writer::close(std::size_t begin) {
  const Varint size = varint(out_.size() - begin);
  out_.insert(begin, size.bytes.data(), size.size);
}

}  // namespace k8s::protobuf
