// Comma-separated values by RFC 4180, with the place of each field.
//
// Fields may be quoted, and may then hold commas, line breaks and doubled quotes. Lines end with LF
// or CRLF. Nothing is trimmed: a space belongs to its field. Blank lines are accepted only at the
// end.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct CsvField {
  std::string text;
  std::size_t line = 0;    // where it begins, both from 1
  std::size_t column = 0;  // in bytes
};

using CsvRow = std::vector<CsvField>;

// A pass over a text, which must outlive it.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  // The next row, at least one field; nullopt at the end. An error is "FILE:LINE:COLUMN: …": a
  // quote that is not closed, one inside a field that is not quoted, text after a closing quote.
  [[nodiscard]] k8s::Result<std::optional<CsvRow>> next();

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool only_blank_lines_left() const;
  k8s::Result<CsvField> field();
  k8s::Result<void> quoted(CsvField& into);
  void plain(CsvField& into);
  void advance();
  bool take_line_end();
  [[nodiscard]] tl::unexpected<k8s::Error> error_at(std::size_t line, std::size_t column,
                                                    const std::string& what) const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;  // offset of the line's first byte
};

}  // namespace bench::replay
