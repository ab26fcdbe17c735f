#include "bench/replay/trace/time_columns.h"

#include "k8s-client/api/decode/rfc3339.h"

#include <algorithm>

namespace bench::replay {

std::optional<Moment> TimeColumns::read(RowReader& rows, std::string_view column) {
  const std::string_view text = rows.text(column);
  if (text.empty()) return std::nullopt;
  const auto date = k8s::json::parse_rfc3339(text);
  const auto seconds = date ? std::nullopt : parse_seconds(text);
  if (!date && !seconds) {
    rows.complain(column,
                  "seconds since the trace began, a date such as 2030-01-31T08:00:00Z, or nothing");
    return std::nullopt;
  }
  const Kind kind = date ? Kind::kDates : Kind::kSeconds;
  if (kind_ != Kind::kNone && kind_ != kind) {
    rows.complain(column, kind_ == Kind::kDates ? "a date, as in the rows before"
                                                : "seconds, as in the rows before");
    return std::nullopt;
  }
  kind_ = kind;
  if (seconds) return seconds;
  const auto read = std::chrono::floor<Moment>(date->time_since_epoch());
  earliest_ = std::min(earliest_, read);
  return read;
}

void TimeColumns::count_from_start(TracePod& pod) const {
  if (kind_ != Kind::kDates) return;
  if (pod.created) *pod.created -= earliest_;
  if (pod.deleted) *pod.deleted -= earliest_;
}

}  // namespace bench::replay
