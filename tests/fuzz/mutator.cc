#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fuzz {
namespace {

constexpr std::size_t kMaxSize = 8192;

// Numbers at which arithmetic changes its ways.
constexpr std::array<std::string_view, 12> kNumbers = {"0",
                                                       "-1",
                                                       "0.1",
                                                       "1e3",
                                                       "127",
                                                       "2147483647",
                                                       "2147483648",
                                                       "9223372036854775807",
                                                       "9223372036854775808",
                                                       "18446744073709551616",
                                                       "1e400",
                                                       "00"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"' || c == '.';
}

}  // namespace

std::string Mutator::next() {
  std::string text = any(corpus_);
  // Mostly few: after many, little is left that gets past the first check.
  for (std::size_t changes = 1 + below(1 + below(8)); changes > 0; --changes) change(text);
  if (text.size() > kMaxSize) text.resize(kMaxSize);
  return text;
}

std::size_t Mutator::length(const std::string& text, std::size_t from) {
  const std::size_t rest = text.size() - from;
  return rest == 0 ? 0 : 1 + below(std::min<std::size_t>(rest, 64));
}

void Mutator::change(std::string& text) {
  switch (below(10)) {
    case 0:
      return flip_bit(text);
    case 1:
      return insert_byte(text);
    case 2:
      return erase_some(text);
    case 3:
      return repeat_some(text);
    case 4:
      return splice(text);
    case 5:
      return text.resize(place(text));
    case 6:
      return replace_number(text);
    case 7:
    case 8:
      return replace_word(text);
    default:
      return insert_word(text);
  }
}

void Mutator::flip_bit(std::string& text) {
  if (text.empty()) return;
  char& byte = text[below(text.size())];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << below(8)));
}

void Mutator::insert_byte(std::string& text) {
  text.insert(place(text), 1, static_cast<char>(below(256)));
}

void Mutator::erase_some(std::string& text) {
  const std::size_t from = place(text);
  text.erase(from, length(text, from));
}

void Mutator::repeat_some(std::string& text) {
  const std::size_t from = place(text);
  const std::string piece = text.substr(from, length(text, from));
  for (std::size_t times = 1 + below(4); times > 0; --times) text.insert(from, piece);
}

// The beginning of this text and the end of another one.
void Mutator::splice(std::string& text) {
  const std::string& other = any(corpus_);
  text.resize(place(text));
  text += other.substr(place(other));
}

void Mutator::insert_word(std::string& text) {
  if (!dictionary_.empty()) text.insert(place(text), any(dictionary_));
}

// Another word, or a word of the text itself, in the place of one: keeps brackets balanced.
void Mutator::replace_word(std::string& text) {
  const auto at = [&](std::size_t from) {
    return text.begin() + static_cast<std::ptrdiff_t>(from);
  };
  const auto from = std::find_if(at(place(text)), text.end(), is_word);
  const auto to = std::find_if_not(from, text.end(), is_word);
  const auto other = std::find_if(at(place(text)), text.end(), is_word);
  const auto other_end = std::find_if_not(other, text.end(), is_word);
  const bool own = dictionary_.empty() || below(2) == 0;
  const std::string word = own ? std::string(other, other_end) : any(dictionary_);
  text.replace(from, to, word);
}

void Mutator::replace_number(std::string& text) {
  const auto from =
      std::find_if(text.begin() + static_cast<std::ptrdiff_t>(place(text)), text.end(), is_digit);
  const auto to = std::find_if_not(from, text.end(), is_digit);
  text.replace(from, to, kNumbers[below(kNumbers.size())]);
}

}  // namespace fuzz
