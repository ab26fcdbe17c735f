#include "scheduler/live/memory_limit.h"

#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using sched::EngineMemory;
using sched::live::CgroupFiles;
using sched::live::engine_memory;
using sched::live::memory_limit;

constexpr std::uint64_t kGi = std::uint64_t{1} << 30U;

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::filesystem::path fresh_folder() {
  static int folders = 0;
  return std::filesystem::path(tests::scratch_dir()) /
         ("memory-limit-" + std::to_string(++folders));
}

}  // namespace

TEST_CASE("the limit of memory is the least of the process's cgroup and those above it") {
  struct Case {
    const char* name;
    std::string of_process;
    std::map<std::string, std::string> files;
    std::optional<std::uint64_t> want;
    std::string from;
  };
  const std::vector<Case> cases = {
      {"a container with a namespace of its own",
       "0::/\n",
       {{"memory.max", "1073741824\n"}},
       kGi,
       "/memory.max"},
      {"a container that sees the host's path",
       "0::/kubepods/pod1/c1\n",
       {{"memory.max", "1073741824\n"}},
       kGi,
       "/memory.max"},
      {"the pod has less than the container",
       "0::/pod1/c1\n",
       {{"pod1/memory.max", "1073741824\n"}, {"pod1/c1/memory.max", "2147483648\n"}},
       kGi,
       "/pod1/memory.max"},
      {"the container has less than the pod",
       "0::/pod1/c1\n",
       {{"pod1/memory.max", "2147483648\n"}, {"pod1/c1/memory.max", "1073741824\n"}},
       kGi,
       "/pod1/c1/memory.max"},
      {"no limit", "0::/a\n", {{"a/memory.max", "max\n"}}, std::nullopt, "none"},
      {"no file", "0::/a\n", {}, std::nullopt, "none"},
      {"no cgroups", "", {{"memory.max", "1073741824\n"}}, std::nullopt, "none"},
      {"text that is no number",
       "0::/a\nnonsense\n:\n",
       {{"a/memory.max", "12 monkeys\n"}, {"memory.max", "-1\n"}},
       std::nullopt,
       "none"},
      {"numbers that are no limit",
       "0::/a\n",
       {{"a/memory.max", "0\n"}, {"memory.max", "4611686018427387904\n"}},
       std::nullopt,
       "none"},
      {"version 1",
       "5:cpu,cpuacct:/a\n4:memory:/docker/c1\n",
       {{"memory/docker/c1/memory.limit_in_bytes", "1073741824\n"},
        {"memory/memory.limit_in_bytes", "9223372036854771712\n"}},
       kGi,
       "/memory/docker/c1/memory.limit_in_bytes"},
      {"version 1 without a controller",
       "5::/a\n",
       {{"a/memory.max", "1073741824\n"}},
       std::nullopt,
       "none"},
      {"version 1 without a limit",
       "4:memory:/\n0::/\n",
       {{"memory/memory.limit_in_bytes", "9223372036854771712\n"}},
       std::nullopt,
       "none"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const std::filesystem::path folder = fresh_folder();
    const std::filesystem::path root = folder / "cgroup";
    write_file(folder / "self", each.of_process);
    for (const auto& [file, text] : each.files) write_file(root / file, text);
    const CgroupFiles files{(folder / "self").string(), root.string()};
    const auto limit = memory_limit("", files);
    REQUIRE(limit);
    CHECK(limit->bytes == each.want);
    CHECK(limit->from == (each.want ? root.string() + each.from : each.from));
  }
}

TEST_CASE("the flag --memory-limit goes before the cgroup's") {
  const std::filesystem::path folder = fresh_folder();
  write_file(folder / "self", "0::/\n");
  write_file(folder / "memory.max", "1073741824\n");
  const CgroupFiles files{(folder / "self").string(), folder.string()};
  CHECK(memory_limit("4Gi", files)->bytes == 4 * kGi);
  CHECK(memory_limit("4Gi", files)->from == "--memory-limit");
  REQUIRE(memory_limit("64Mi", files));
  CHECK(memory_limit("64Mi", files)->bytes == kGi / 16);
  for (const char* wrong : {"0", "63Mi", "-1Gi", "much", "1GiB"}) {
    const auto refused = memory_limit(wrong, files);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "--memory-limit: \"" + std::string(wrong) +
                                         "\" is no size of 64Mi or more; it must be bytes, such "
                                         "as 1Gi");
  }
}

TEST_CASE("what is stored takes three eighths of the limit of memory") {
  CHECK(engine_memory({kGi, "x"}) == EngineMemory{.shapes = kGi / 4, .counts = kGi / 8});
  CHECK(engine_memory({std::nullopt, "none"}) == EngineMemory{});
}
