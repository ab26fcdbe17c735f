// Times in tables: seconds since the trace began, or dates (RFC 3339), one kind in a file.
#pragma once

#include "bench/replay/trace/row_reader.h"
#include "bench/replay/trace/trace.h"

#include <optional>
#include <string_view>

namespace bench::replay {

class TimeColumns {
 public:
  // The time in that field; nullopt if there is none. At first dates count from 1970.
  std::optional<Moment> read(RowReader& rows, std::string_view column);

  // Makes dates count from the earliest one that was read. Seconds are not changed.
  void count_from_start(TracePod& pod) const;

 private:
  enum class Kind { kNone, kSeconds, kDates };
  Kind kind_ = Kind::kNone;
  Moment earliest_ = Moment::max();
};

}  // namespace bench::replay
