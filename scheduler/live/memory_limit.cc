#include "scheduler/live/memory_limit.h"

#include "k8s-client/api/quantity.h"
#include "k8s-client/parse_number.h"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace sched::live {

namespace {

constexpr const char* kFlag = "--memory-limit";
constexpr std::uint64_t kLeast = std::uint64_t{64} << 20U;  // a small cluster fits
// Without a limit, version 1 shows the largest number of whole pages.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62U;

// The process's cgroups that limit memory, below the root of all.
struct Cgroup {
  std::string controller;  // the folder of version 1; empty: version 2
  std::string path;        // "/", "/kubepods/pod1/c1"
  [[nodiscard]] const char* file() const {
    return controller.empty() ? "memory.max" : "memory.limit_in_bytes";
  }
};

// A line is "0::/path" in version 2, and "4:memory:/path" in version 1 (cgroups(7)).
std::optional<Cgroup> cgroup_of(std::string_view line) {
  const auto first = line.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string path(line.substr(second + 1));
  if (controllers.empty() && line.substr(0, first) == "0") return Cgroup{"", path};
  if (controllers == "memory") return Cgroup{"/memory", path};
  return std::nullopt;
}

std::optional<std::uint64_t> limit_in(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  if (!std::getline(in, text)) return std::nullopt;
  const auto bytes = k8s::parse_number<std::uint64_t>(text);
  if (!bytes || *bytes == 0 || *bytes >= kNoLimit) return std::nullopt;  // "max", among others
  return bytes;
}

// Takes the least limit of a cgroup and those above it. In a container the path may be the one on
// the host. Of that path only the root exists in the container, and it is the container's own
// cgroup.
void take_least(const Cgroup& group, const std::string& root, MemoryLimit& least) {
  std::string path = group.path;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    const std::string file = fmt::format("{}{}{}/{}", root, group.controller, path, group.file());
    const auto limit = limit_in(file);
    if (limit && (!least.bytes || *limit < *least.bytes)) least = {limit, file};
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

k8s::Result<MemoryLimit> memory_limit(const std::string& flag, const CgroupFiles& files) {
  if (!flag.empty()) {
    const auto size = k8s::Quantity::parse(flag);
    if (!size || *size < k8s::Quantity::of(static_cast<std::int64_t>(kLeast))) {
      return k8s::config_error(fmt::format(
          "{}: \"{}\" is no size of 64Mi or more; it must be bytes, such as 1Gi", kFlag, flag));
    }
    return MemoryLimit{static_cast<std::uint64_t>(size->value()), kFlag};
  }
  MemoryLimit least{std::nullopt, "none"};
  std::ifstream groups(files.of_process);
  for (std::string line; std::getline(groups, line);) {
    if (const auto group = cgroup_of(line)) take_least(*group, files.root, least);
  }
  return least;
}

EngineMemory engine_memory(const MemoryLimit& limit) {
  if (!limit.bytes) return {};
  return {.shapes = *limit.bytes / 4, .counts = *limit.bytes / 8};
}

}  // namespace sched::live
