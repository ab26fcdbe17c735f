#include "bench/replay/trace/csv.h"

#include <fmt/core.h>

#include <utility>

namespace bench::replay {

tl::unexpected<k8s::Error> CsvReader::error_at(std::size_t line, std::size_t column,
                                               const std::string& what) const {
  return k8s::decode_error(fmt::format("{}:{}:{}: {}", file_, line, column, what));
}

bool CsvReader::only_blank_lines_left() const {
  return text_.find_first_not_of("\r\n", at_) == std::string_view::npos;
}

void CsvReader::advance() {
  if (text_[at_++] != '\n') return;
  ++line_;
  line_start_ = at_;
}

bool CsvReader::take_line_end() {
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with('\n') && !rest.starts_with("\r\n")) return false;
  if (rest.front() == '\r') advance();
  advance();
  return true;
}

k8s::Result<std::optional<CsvRow>> CsvReader::next() {
  if (only_blank_lines_left()) return std::optional<CsvRow>();
  CsvRow row;
  while (true) {
    auto read = field();
    if (!read) return tl::unexpected(read.error());
    row.push_back(std::move(*read));
    if (at_end() || take_line_end()) return row;
    if (text_[at_] != ',') {
      return error_at(line_, at_ - line_start_ + 1,
                      "found text behind a closing quote, want a comma or the end of the line");
    }
    advance();
  }
}

k8s::Result<CsvField> CsvReader::field() {
  CsvField read{.text = {}, .line = line_, .column = at_ - line_start_ + 1};
  if (!at_end() && text_[at_] == '"') {
    if (auto done = quoted(read); !done) return tl::unexpected(done.error());
    return read;
  }
  plain(read);
  if (const auto quote = read.text.find('"'); quote != read.text.npos) {
    return error_at(read.line, read.column + quote,
                    "found a quote inside a field; quote the whole field and double the quote");
  }
  return read;
}

void CsvReader::plain(CsvField& into) {
  auto end = text_.find_first_of(",\n", at_);
  if (end == text_.npos) end = text_.size();
  into.text = text_.substr(at_, end - at_);
  at_ = end;
  if (into.text.ends_with('\r') && (at_end() || text_[at_] == '\n')) {
    into.text.pop_back();
    if (!at_end()) --at_;  // the line's end is "\r\n"
  }
}

k8s::Result<void> CsvReader::quoted(CsvField& into) {
  advance();
  while (!at_end()) {
    if (text_[at_] == '"') {
      advance();
      if (at_end() || text_[at_] != '"') return {};
    }
    into.text += text_[at_];
    advance();
  }
  return error_at(into.line, into.column, "found a quoted field without its closing quote");
}

}  // namespace bench::replay
