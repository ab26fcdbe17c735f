// What the process takes, under the names that Prometheus' client libraries give it.
#pragma once

#include <cstdint>
#include <optional>

namespace sched::server {

struct ProcessFigures {
  double cpu_seconds = 0;  // of the user's and the system's, since the start
  double start_time = 0;   // seconds since 1970
  std::int64_t resident_bytes = 0;
  std::int64_t open_files = 0;
  std::int64_t most_open_files = 0;  // the soft limit
};

// nullopt: /proc cannot be read.
[[nodiscard]] std::optional<ProcessFigures> process_figures();

}  // namespace sched::server
