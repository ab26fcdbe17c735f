// Inputs that are almost right: seeds, changed a little, always in the same way for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

class Mutator {
 public:
  // `corpus` must not be empty; `dictionary` may be.
  Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, std::uint64_t seed)
      : corpus_(std::move(corpus)), dictionary_(std::move(dictionary)), random_(seed) {}

  // An entry of the corpus after one to eight changes, mostly few.
  [[nodiscard]] std::string next();

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  const std::string& any(const std::vector<std::string>& from) { return from[below(from.size())]; }
  // A place in `text` to insert at, and a length from there.
  std::size_t place(const std::string& text) { return below(text.size() + 1); }
  std::size_t length(const std::string& text, std::size_t from);

  void change(std::string& text);
  void flip_bit(std::string& text);
  void insert_byte(std::string& text);
  void erase_some(std::string& text);
  void repeat_some(std::string& text);
  void splice(std::string& text);
  void insert_word(std::string& text);
  void replace_word(std::string& text);
  void replace_number(std::string& text);

  std::vector<std::string> corpus_;
  std::vector<std::string> dictionary_;
  std::mt19937_64 random_;
};

}  // namespace fuzz
