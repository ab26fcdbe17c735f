#include "k8s-client/api/quantity.h"
#include "tests/fuzz/fuzz_target.h"

#include <limits>
#include <string>

namespace {

// How the two roundings of one number must stand to each other.
void check_roundings(const k8s::Quantity& quantity) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const std::int64_t units = quantity.value();
  const std::int64_t milli = quantity.milli_value();
  fuzz::require((units == 0) == quantity.is_zero(), "nothing but zero rounds to zero units");
  fuzz::require((milli == 0) == quantity.is_zero(), "nothing but zero rounds to zero milli-units");
  if (milli == kMax || milli == -kMax) return;
  const std::int64_t rounded_up = milli / 1000 + (milli % 1000 > 0 ? 1 : milli % 1000 < 0 ? -1 : 0);
  fuzz::require(rounded_up == units, "units are milli-units rounded away from zero");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::as_text(data, size);
  const auto quantity = k8s::Quantity::parse(text);
  if (!quantity) {
    fuzz::require(!quantity.error().message.empty(), "an error says something");
    return;
  }
  const auto again = k8s::Quantity::parse(quantity->to_string());
  fuzz::require(again && *again == *quantity, "what is written reads as the same number");
  check_roundings(*quantity);
  if (text.starts_with('-') || text.starts_with('+')) return;
  const auto negative = k8s::Quantity::parse("-" + std::string(text));
  fuzz::require(negative && (*negative + *quantity).is_zero(), "a minus gives the opposite");
}
