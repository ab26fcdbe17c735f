#include "scheduler/gpu/mig/resource_name.h"

#include "scheduler/gpu/demand.h"

#include <algorithm>

namespace sched::gpu::mig {

namespace {

constexpr std::string_view kShared = ".shared";
constexpr std::size_t kMostProfileBytes = 63;  // as of a label's value

// Removes the digits at the beginning; false: there are none, or too many for a profile.
bool skip_number(std::string_view& text) {
  constexpr std::size_t kMostDigits = 4;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits) return false;
  text.remove_prefix(digits);
  return true;
}

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "", ".me", "-me", ".me.all"
bool is_suffix(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() != '.' && text.front() != '-') return false;
  text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || c == '.'; });
}

}  // namespace

std::optional<ResourceName> parse_resource(std::string_view resource) {
  if (!skip(resource, kMigResourcePrefix)) return std::nullopt;
  ResourceName name;
  if (resource.ends_with(kShared)) {
    name.shared = true;
    resource.remove_suffix(kShared.size());
  }
  const auto profile = profile_spelling(resource);
  if (!profile) return std::nullopt;
  name.profile = *profile;
  return name;
}

std::optional<std::string> profile_spelling(std::string_view profile) {
  if (profile.size() > kMostProfileBytes) return std::nullopt;
  std::string spelled(profile);
  std::replace(spelled.begin(), spelled.end(), '+', '.');
  std::string_view rest = spelled;
  const bool is_profile = skip_number(rest) && skip(rest, "g.") && skip_number(rest) &&
                          skip(rest, "gb") && is_suffix(rest);
  if (!is_profile) return std::nullopt;
  return spelled;
}

}  // namespace sched::gpu::mig
