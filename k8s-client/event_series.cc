#include "k8s-client/event_series.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

namespace k8s {
namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;  // of reason, action, reporting instance
constexpr std::size_t kMaxName = 253;  // a DNS subdomain

// Cuts to at most `limit` bytes, not within a UTF-8 character.
void cut(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

// "<object>.<hex>" like Kubernetes' own; each label of a DNS name ends in a letter or digit.
std::string event_name(const EventObject& event, std::uint64_t number) {
  constexpr std::uint64_t kPerMicrosecond = 1000;
  const auto micros = static_cast<std::uint64_t>(event.event_time.time_since_epoch().count());
  const std::string suffix =
      fmt::format(".{:x}", micros * kPerMicrosecond + number % kPerMicrosecond);
  std::string name = event.regarding_name;
  cut(name, kMaxName - suffix.size());
  while (!name.empty() && !is_alphanumeric(name.back())) name.pop_back();
  return name + suffix;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

}  // namespace

std::string series_key(const EventObject& event) {
  return object_key(event) + joined({event.reason, event.action, event.type, event.note});
}

std::string object_key(const EventObject& event) {
  return joined({event.regarding_kind, event.regarding_namespace, event.regarding_name,
                 event.regarding_uid, event.reporting_controller});
}

void make_acceptable(EventObject& event, std::uint64_t number) {
  event.namespace_ = event.regarding_namespace.empty() ? "default" : event.regarding_namespace;
  event.name = event_name(event, number);
  cut(event.reason, kMaxWord);
  cut(event.action, kMaxWord);
  cut(event.reporting_instance, kMaxWord);
  constexpr std::string_view kMore = " ...";
  if (event.note.size() > kMaxNote) {
    cut(event.note, kMaxNote - kMore.size());
    event.note += kMore;
  }
}

}  // namespace k8s
