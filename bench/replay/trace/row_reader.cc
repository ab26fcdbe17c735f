#include "bench/replay/trace/row_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace bench::replay {
namespace {

constexpr std::int64_t kMostSeconds = 100'000'000'000;

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_known(const Columns& columns, std::string_view name) {
  if (contains(columns.required, name) || contains(columns.optional, name)) return true;
  return std::any_of(columns.prefixes.begin(), columns.prefixes.end(),
                     [&](std::string_view prefix) {
                       return name.starts_with(prefix) && name.size() > prefix.size();
                     });
}

std::string listed(const Columns& columns) {
  std::string text = fmt::format("{}", fmt::join(columns.required, ", "));
  for (const std::string_view name : columns.optional) text += fmt::format(", {}", name);
  for (const std::string_view prefix : columns.prefixes) text += fmt::format(", {}…", prefix);
  return text;
}

// The place and text of an error in the header; nullopt: none.
std::optional<std::pair<std::size_t, std::string>> fault_of(const CsvRow& header,
                                                            const Columns& columns) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i].text;
    if (!is_known(columns, name)) {
      return {{i, fmt::format("unknown column \"{}\", want {}", name, listed(columns))}};
    }
    if (contains(columns.reserved, name)) {
      return {
          {i, fmt::format("column \"{}\": another one says that, want {}", name, listed(columns))}};
    }
    const auto same = [&](const CsvField& other) { return other.text == name; };
    const auto end = header.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(header.begin(), end, same)) {
      return {{i, fmt::format("column \"{}\" is there twice", name)}};
    }
  }
  for (const std::string_view name : columns.required) {
    const auto is_it = [&](const CsvField& field) { return field.text == name; };
    if (std::none_of(header.begin(), header.end(), is_it)) {
      return {{0, fmt::format("column \"{}\" is missing, want {}", name, listed(columns))}};
    }
  }
  return std::nullopt;
}

}  // namespace

RowReader::RowReader(const TextFile& file, CsvRow header)
    : file_(file.path), rows_(file.text, file.path), header_(std::move(header)) {}

k8s::Result<RowReader> RowReader::open(const TextFile& file, const Columns& columns) {
  RowReader reader(file, {});
  auto header = reader.rows_.next();
  if (!header) return tl::unexpected(header.error());
  if (!*header) {
    return k8s::decode_error(file.path + ":1:1: the file is empty, want a header with " +
                             listed(columns));
  }
  reader.header_ = std::move(**header);
  if (const auto fault = fault_of(reader.header_, columns)) {
    const CsvField& at = reader.header_[fault->first];
    return k8s::decode_error(
        fmt::format("{}:{}:{}: {}", file.path, at.line, at.column, fault->second));
  }
  return reader;
}

std::vector<std::string> RowReader::names_behind(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const CsvField& field : header_) {
    if (field.text.starts_with(prefix)) names.push_back(field.text.substr(prefix.size()));
  }
  return names;
}

tl::unexpected<k8s::Error> RowReader::header_error(std::string_view column,
                                                   std::string_view what) const {
  const auto named = [&](const CsvField& field) { return field.text == column; };
  const auto at = std::find_if(header_.begin(), header_.end(), named);
  const CsvField& field = at == header_.end() ? header_.front() : *at;
  return k8s::decode_error(
      fmt::format("{}:{}:{}: column \"{}\": {}", file_, field.line, field.column, column, what));
}

bool RowReader::next() {
  if (error_) return false;
  auto row = rows_.next();
  if (!row) {
    error_ = row.error();
    return false;
  }
  if (!*row) return false;
  row_ = std::move(**row);
  if (row_.size() == header_.size()) return true;
  const CsvField& last = row_[std::min(row_.size(), header_.size()) - 1];
  error_ =
      k8s::decode_error(fmt::format("{}:{}:{}: found {} fields, want {} as in the header", file_,
                                    last.line, last.column, row_.size(), header_.size()))
          .value();
  return false;
}

const CsvField* RowReader::field(std::string_view column) const {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].text == column) return &row_[i];
  }
  return nullptr;
}

std::string_view RowReader::text(std::string_view column) const {
  const CsvField* found = field(column);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

std::string RowReader::name(std::string_view column) {
  std::string read(text(column));
  if (read.empty()) complain(column, "a name");
  return read;
}

std::int64_t RowReader::whole(std::string_view column, WholeRange range) {
  const std::string_view digits = text(column);
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(digits.begin(), digits.end(), number);
  const bool read = code == std::errc() && end == digits.end();
  if (!read || number < range.least || number > range.most) {
    complain(column, fmt::format("a whole number from {} to {}", range.least, range.most));
  }
  return number;
}

k8s::Quantity RowReader::quantity(std::string_view column) {
  const std::string_view written = text(column);
  if (written.empty()) return {};
  auto read = k8s::Quantity::parse(written);
  if (!read || *read < k8s::Quantity()) {
    complain(column, "a Kubernetes quantity of zero or more, such as 500m, 8 or 64Gi");
    return {};
  }
  return *read;
}

std::optional<Moment> RowReader::seconds(std::string_view column) {
  const std::string_view written = text(column);
  if (written.empty()) return std::nullopt;
  const auto read = parse_seconds(written);
  if (!read) {
    complain(column,
             fmt::format("seconds since the trace began, from 0 to {}, or nothing", kMostSeconds));
  }
  return read;
}

std::vector<std::string> RowReader::models(std::string_view column) {
  std::vector<std::string> models;
  std::string_view rest = text(column);
  for (bool more = !rest.empty(); more;) {
    const auto bar = std::min(rest.find('|'), rest.size());
    const std::string model(rest.substr(0, bar));
    if (model.empty()) complain(column, "models with a bar between them, such as A|B, or nothing");
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
    more = bar < rest.size();
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return models;
}

void RowReader::complain(std::string_view column, const std::string& want) {
  if (error_) return;
  const CsvField* found = field(column);
  const CsvField& at = found == nullptr ? row_.front() : *found;
  error_ = k8s::decode_error(fmt::format("{}:{}:{}: {} \"{}\": want {}", file_, at.line, at.column,
                                         column, text(column), want))
               .value();
}

void RowReader::require_new(std::string_view column, const std::string& key) {
  const auto [first, is_new] = first_lines_.emplace(key, row_.front().line);
  if (is_new) return;
  complain(column, fmt::format("a name that is there once; line {} has it as well", first->second));
}

k8s::Result<void> RowReader::finish() const {
  if (error_) return tl::unexpected(*error_);
  return {};
}

std::optional<std::int64_t> parse_thousandths(std::string_view text) {
  constexpr std::size_t kMostDigits = 12;
  constexpr std::string_view kDigits = "0123456789";
  const auto point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  if (whole.empty() || whole.size() > kMostDigits) return std::nullopt;
  std::string digits(whole);
  std::string_view fraction = "";
  if (point < text.size()) {
    fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.size() > 3) return std::nullopt;
  }
  digits.append(fraction).append(3 - fraction.size(), '0');
  if (digits.find_first_not_of(kDigits) != digits.npos) return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<Moment> parse_seconds(std::string_view text) {
  const auto milli = parse_thousandths(text);
  if (!milli || *milli > kMostSeconds * 1'000) return std::nullopt;
  return Moment(*milli);
}

}  // namespace bench::replay
