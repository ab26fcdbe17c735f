// Rows of a CSV file by the names of their columns, checked.
//
//   while (rows.next()) { … rows.whole("num_gpu", {0, 64}) … }
//   if (auto done = rows.finish(); !done) …
//
// The first error ends the reading: next() returns false and finish() returns "FILE:LINE:COLUMN:
// NAME "TEXT": want …". The value of a bad field does not matter then.
#pragma once

#include "bench/replay/trace/csv.h"
#include "bench/replay/trace/text_file.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/api/quantity.h"
#include "k8s-client/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench::replay {

struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Column names of one kind of file.
struct Columns {
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  std::vector<std::string_view> prefixes;  // "label:" allows label:anything
  // Except these: they would repeat a column of their own.
  std::vector<std::string_view> reserved = {};
};

class RowReader {
 public:
  // Reads the header. Errors: no header, a missing required column, an unknown or duplicate one.
  // `file` outlives it.
  [[nodiscard]] static k8s::Result<RowReader> open(const TextFile& file, const Columns& columns);

  // The names behind `prefix` of the header's columns: "label:zone" → "zone".
  [[nodiscard]] std::vector<std::string> names_behind(std::string_view prefix) const;

  // An error about a column of the header, "FILE:LINE:COLUMN: column "NAME": what".
  [[nodiscard]] tl::unexpected<k8s::Error> header_error(std::string_view column,
                                                        std::string_view what) const;

  // Goes to the next row; false at the end and after an error.
  bool next();

  // Fields of the present row. A column that is not in the file reads as empty text.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  // Not empty.
  std::string name(std::string_view column);
  // A whole number in digits; empty is an error.
  std::int64_t whole(std::string_view column, WholeRange range);
  // A Kubernetes quantity of zero or more; empty is zero.
  k8s::Quantity quantity(std::string_view column);
  // Seconds since the trace began, with up to three digits of a fraction; empty is nullopt.
  std::optional<Moment> seconds(std::string_view column);

  // Models, "A|B"; empty text: none.
  std::vector<std::string> models(std::string_view column);

  // The row has an error: `want` is what the field should have been.
  void complain(std::string_view column, const std::string& want);
  // The row has an error if an earlier one had the same `key`.
  void require_new(std::string_view column, const std::string& key);

  [[nodiscard]] k8s::Result<void> finish() const;

 private:
  RowReader(const TextFile& file, CsvRow header);

  [[nodiscard]] const CsvField* field(std::string_view column) const;

  std::string file_;
  CsvReader rows_;
  CsvRow header_;
  CsvRow row_;
  std::unordered_map<std::string, std::size_t> first_lines_;  // of keys
  std::optional<k8s::Error> error_;
};

// "12", "0.46": a number of zero or more with at most three decimals, in thousandths; else nothing.
[[nodiscard]] std::optional<std::int64_t> parse_thousandths(std::string_view text);

// The same as a time, of at most 10^11 seconds.
[[nodiscard]] std::optional<Moment> parse_seconds(std::string_view text);

}  // namespace bench::replay
