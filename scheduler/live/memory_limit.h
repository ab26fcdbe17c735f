// How much memory the process may take, and how much of it the engine's stored answers.
//
// If the process exceeds its cgroup's limit, the kernel kills it. The engine's caches
// (EngineMemory) grow with the number of different pods that tenants create, so they get a fixed
// part of the limit:
//
//   a quarter   the answers of all nodes to the shapes of pods
//   an eighth   the counts of rules across nodes
//   the rest    nodes, pods, requests and answers under way, a recording; docs/sizing.md has
//   figures
//
// Without a limit they get EngineMemory's defaults. The program reads the limit once, at its start,
// because the engine reads no files. A limit that is changed later takes effect in the next
// process.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/engine/options.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sched::live {

struct MemoryLimit {
  std::optional<std::uint64_t> bytes;  // nullopt: none
  std::string from;                    // the file, "--memory-limit", or "none"
};

// Where the kernel shows the process's cgroup and the cgroups' files; others in tests.
struct CgroupFiles {
  std::string of_process = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// The flag's size, if it is set, else the least limit of the process's cgroup and those above it,
// of version 2 or 1. A file that is missing or cannot be read is no limit.
// Source: Linux, "Control Group v2" (memory.max) and "Memory Resource Controller"
// (memory.limit_in_bytes).
[[nodiscard]] k8s::Result<MemoryLimit> memory_limit(const std::string& flag,
                                                    const CgroupFiles& files = {});

[[nodiscard]] EngineMemory engine_memory(const MemoryLimit& limit);

}  // namespace sched::live
