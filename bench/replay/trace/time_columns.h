// Times in tables: seconds since the trace began, or dates (RFC 3339), one kind in a file.
#pragma once

#include "bench/replay/trace/row_reader.h"
#include "bench/replay/trace/trace.h"

#include <optional>
#include <string_view>

namespace bench::replay {

class TimeColumns {
 public:
  // The time in that field; nullopt where there is none. Dates count from 1970 for now.
  std::optional<Moment> read(RowReader& rows, std::string_view column);

  // Lets dates count from the earliest one that was read. Seconds stay what they are.
  void count_from_start(TracePod& pod) const;

 private:
  enum class Kind { kNone, kSeconds, kDates };
  Kind kind_ = Kind::kNone;
  Moment earliest_ = Moment::max();
};

}  // namespace bench::replay
