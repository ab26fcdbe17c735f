#include "scheduler/server/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace sched::server {
namespace {

// proc(5), /proc/PID/stat: the fields behind the name, which may have blanks and ")" in it.
struct Stat {
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t start_ticks = 0;  // since the machine's start
  std::int64_t resident_pages = 0;
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int kFirst = 3;  // state
  Stat stat;
  std::string field;
  for (int number = kFirst; number <= 24 && fields >> field; ++number) {
    std::istringstream value(field);
    if (number == 14) value >> stat.user_ticks;
    if (number == 15) value >> stat.system_ticks;
    if (number == 22) value >> stat.start_ticks;
    if (number == 24) value >> stat.resident_pages;
  }
  if (!fields) return std::nullopt;
  return stat;
}

// When the machine started.
double boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    if (word != "btime") continue;
    double seconds = 0;
    file >> seconds;
    return seconds;
  }
  return 0;
}

std::int64_t open_files() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  return std::distance(begin(files), end(files)) - 1;  // the folder itself was open
}

}  // namespace

std::optional<ProcessFigures> process_figures() {
  const auto stat = read_stat();
  if (!stat) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFigures figures;
  figures.cpu_seconds = static_cast<double>(stat->user_ticks + stat->system_ticks) / ticks;
  figures.start_time = boot_time() + static_cast<double>(stat->start_ticks) / ticks;
  figures.resident_bytes = stat->resident_pages * sysconf(_SC_PAGESIZE);
  figures.open_files = open_files();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    figures.most_open_files = limit.rlim_cur == RLIM_INFINITY
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : static_cast<std::int64_t>(limit.rlim_cur);
  }
  return figures;
}

}  // namespace sched::server
