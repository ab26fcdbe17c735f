#include "scheduler/kubectl-gpu/table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace sched::kubectl {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

// Characters of UTF-8; each is one column wide here.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace

Coloured coloured(std::string text, Colour colour, const Style& style) {
  return {std::move(text), style.colours ? colour : Colour::kNone};
}

Table::Table(std::vector<std::string> headers, std::size_t indent)
    : headers_(std::move(headers)), indent_(indent) {
  for (std::string& header : headers_) {
    to_the_right_.push_back(header.starts_with('>'));
    if (to_the_right_.back()) header.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = plain(cell);
  rows_.push_back(std::move(row));
}

void Table::print(TextOut out, const Style& style) const {
  std::vector<std::size_t> widths;
  for (const std::string& header : headers_) widths.push_back(width_of(header));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      text += to_the_right_[i] ? padding + row[i] : row[i] + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  out << coloured(line(headers_), Colour::kBold, style) << '\n';
  for (const auto& row : rows_) out << line(row) << '\n';
}

std::string bar(std::int64_t used, std::int64_t total, const Style& style, std::size_t cells) {
  if (!style.bars || total <= 0) return {};
  constexpr std::array<std::string_view, 8> kEighths = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto all = static_cast<std::int64_t>(cells) * 8;
  auto eighths = std::clamp<std::int64_t>(used, 0, total) * all / total;
  std::string text;
  for (std::size_t cell = 0; cell < cells; ++cell, eighths -= 8) {
    text +=
        eighths >= 8 ? "█" : kEighths[static_cast<std::size_t>(std::max<std::int64_t>(eighths, 0))];
  }
  return text;
}

std::string age(Time since, Time now) {
  using std::chrono::seconds;
  const auto passed =
      std::max<std::int64_t>(std::chrono::duration_cast<seconds>(now - since).count(), 0);
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  if (passed < 2 * kMinute) return std::to_string(passed) + "s";
  if (passed < 2 * kHour) return std::to_string(passed / kMinute) + "m";
  if (passed < 2 * kDay) return std::to_string(passed / kHour) + "h";
  return std::to_string(passed / kDay) + "d";
}

void show_age(TextOut out, std::optional<std::chrono::seconds> data_age) {
  if (data_age) out << "As of " << age(Time{}, Time{*data_age}) << " ago\n";
}

std::string counted(std::int64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

std::string shortened(std::string_view text, std::size_t most) {
  if (width_of(text) <= most) return std::string(text);
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++characters == most) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace sched::kubectl
