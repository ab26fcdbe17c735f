#include "k8s-client/api/protobuf/message.h"

#include "k8s-client/api/utf8.h"

#include <limits>

namespace k8s::protobuf {
namespace {

constexpr int kVarintBits = 64;

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < kVarintBits && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_bytes(std::string_view& rest, std::uint64_t size) {
  if (size > rest.size()) return std::nullopt;
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

}  // namespace

std::optional<std::uint32_t> Value::take(std::string_view& rest, Value& into) {
  const auto tag = take_varint(rest);
  if (!tag || *tag > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(*tag >> 3);
  if (number == 0) return std::nullopt;
  std::optional<std::uint64_t> size;
  switch (*tag & 7) {
    case 0: {
      const auto value = take_varint(rest);
      if (!value) return std::nullopt;
      into.type_ = Type::kVarint;
      into.varint_ = *value;
      return number;
    }
    case 1:
      into.type_ = Type::kFixed64;
      size = 8;
      break;
    case 2:
      into.type_ = Type::kBytes;
      size = take_varint(rest);
      break;
    case 5:
      into.type_ = Type::kFixed32;
      size = 4;
      break;
    default:
      return std::nullopt;
  }
  const auto bytes = size ? take_bytes(rest, *size) : std::nullopt;
  if (!bytes) return std::nullopt;
  into.bytes_ = *bytes;
  return number;
}

bool Value::fail(std::string text) const {
  failure_->path.clear();
  failure_->text = std::move(text);
  return false;
}

void Value::failed_at(std::uint32_t number) const {
  std::string& path = failure_->path;
  path = std::to_string(number) + (path.empty() ? "" : ".") + path;
}

bool Value::failed_with(Failure failure) const {
  *failure_ = std::move(failure);
  return false;
}

bool read(const Value& value, std::string& out) {
  if (value.type() != Value::Type::kBytes) return value.fail("must be a text");
  const std::string_view text = value.bytes();
  if (is_utf8(text)) {
    out = text;
  } else {
    out = repaired(text);
  }
  return true;
}

bool read(const Value& value, std::int64_t& out) {
  if (value.type() != Value::Type::kVarint) return value.fail("must be a number");
  out = static_cast<std::int64_t>(value.varint());
  return true;
}

bool read(const Value& value, std::int32_t& out) {
  std::int64_t wide = 0;
  if (!read(value, wide)) return false;
  using Limits = std::numeric_limits<std::int32_t>;
  if (wide < Limits::min() || wide > Limits::max()) return value.fail("must fit 32 bits");
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool read(const Value& value, bool& out) {
  if (value.type() != Value::Type::kVarint) return value.fail("must be true or false");
  out = value.varint() != 0;
  return true;
}

bool read(const Value& value, std::optional<Timestamp>& out) {
  if (value.bytes().empty()) return true;
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
  const bool ok = value.fields([&](std::uint32_t number, const Value& field) {
    if (number == 1) return read(field, seconds);
    if (number == 2) return read(field, nanos);
    return true;
  });
  if (!ok) return false;
  using std::chrono::duration_cast;
  const std::chrono::seconds since_epoch{seconds};
  const bool in_range =
      since_epoch >= duration_cast<std::chrono::seconds>(kFirstTime.time_since_epoch()) &&
      since_epoch <= duration_cast<std::chrono::seconds>(kLastTime.time_since_epoch());
  if (in_range) out = Timestamp(since_epoch);
  return true;
}

bool read(const Value& value, Quantity& out) {
  return value.fields([&](std::uint32_t number, const Value& field) {
    if (number != 1) return true;
    auto quantity = Quantity::parse(field.bytes());
    if (!quantity) return field.fail(std::move(quantity.error().message));
    out = *quantity;
    return true;
  });
}

}  // namespace k8s::protobuf
