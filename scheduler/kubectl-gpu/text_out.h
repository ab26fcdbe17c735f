// Text for people, on a terminal or in a pipe.
//
// Tenants write much of what is printed: annotations, the names of schedulers. A terminal would
// obey control characters in there, and a line break would forge a line of the answer. So texts are
// printed in their plain form. Only string literals of this program are printed as they are: the
// line breaks are in those. JSON needs none of this, because it has escapes of its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace sched::kubectl {

// With "\xNN" in place of each control character (U+0000 to U+001F, U+007F to U+009F).
[[nodiscard]] std::string plain(std::string_view text);

enum class Colour { kNone, kBold, kRed, kGreen, kYellow };
struct Coloured {
  std::string text;
  Colour colour = Colour::kNone;
};

// Refers to a stream, which outlives it.
class TextOut {
 public:
  TextOut(std::ostream& out) : out_(&out) {}  // NOLINT(google-explicit-constructor)

  template <std::size_t size>
  const TextOut& operator<<(const char (&literal)[size]) const {
    *out_ << literal;
    return *this;
  }
  const TextOut& operator<<(std::string_view text) const;
  const TextOut& operator<<(const Coloured& text) const;
  // Of this program: a line break, or a sign between texts.
  const TextOut& operator<<(char sign) const;
  const TextOut& operator<<(std::integral auto number) const {
    *out_ << number;
    return *this;
  }

 private:
  std::ostream* out_;
};

}  // namespace sched::kubectl
