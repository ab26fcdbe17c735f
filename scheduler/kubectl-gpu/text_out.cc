#include "scheduler/kubectl-gpu/text_out.h"

#include <fmt/format.h>

#include <array>

namespace sched::kubectl {

std::string plain(std::string_view text) {
  const auto byte_at = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    // In UTF-8 U+0080 to U+009F are C2 80 to C2 9F.
    const unsigned next = byte_at(at + 1);
    if (byte_at(at) == 0xC2 && next >= 0x80 && next <= 0x9F) {
      plain += fmt::format("\\x{:02x}", next);
      ++at;
    } else if (byte_at(at) < 0x20 || byte_at(at) == 0x7F) {
      plain += fmt::format("\\x{:02x}", byte_at(at));
    } else {
      plain += text[at];
    }
  }
  return plain;
}

const TextOut& TextOut::operator<<(std::string_view text) const {
  *out_ << plain(text);
  return *this;
}

const TextOut& TextOut::operator<<(const Coloured& text) const {
  if (text.colour == Colour::kNone) return *this << std::string_view(text.text);
  constexpr std::array<std::string_view, 5> kCodes = {"", "1", "31", "32", "33"};
  *out_ << "\x1b[" << kCodes[static_cast<std::size_t>(text.colour)] << 'm' << plain(text.text)
        << "\x1b[0m";
  return *this;
}

const TextOut& TextOut::operator<<(char sign) const {
  *out_ << sign;
  return *this;
}

}  // namespace sched::kubectl
