#include "scheduler/base/qualified_name.h"

#include <algorithm>

namespace sched {

namespace {

bool is_lower_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_alphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  const auto allowed = [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  return is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

bool is_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  char previous = '.';
  for (const char c : text) {
    const bool allowed = c == '.'   ? is_lower_alphanumeric(previous)
                         : c == '-' ? previous != '.'
                                    : is_lower_alphanumeric(c);
    if (!allowed) return false;
    previous = c;
  }
  return is_lower_alphanumeric(previous);
}

bool is_qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name(text);
  return is_subdomain(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_name(text); }

}  // namespace sched
