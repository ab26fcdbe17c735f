// Traces for tests, from texts.
#pragma once

#include "bench/replay/trace/read.h"
#include "tests/support/paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

namespace bench::replay {

// A file of that name with that content, gone when the process ends.
inline std::string written(const std::string& name, const std::string& text) {
  std::string path = tests::scratch_dir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// What is wrong with a trace; empty: nothing.
inline std::string error_of(const TraceFiles& files) {
  const auto trace = read_trace(files);
  return trace ? "" : trace.error().message;
}

// The folder of the published openb traces, with a slash behind it; nullopt, and a word about it,
// where there is none.
inline std::optional<std::string> openb_folder() {
  const char* set = std::getenv("GPU_SCHEDULER_SHARED");
  const std::string shared = set != nullptr ? set : tests::source_dir() + "/../shared";
  if (std::filesystem::is_directory(shared + "/traces/openb")) return shared + "/traces/openb/";
  // ctest looks for this text (SKIP_REGULAR_EXPRESSION).
  std::cout << "skipped: no folder traces/openb in " << shared
            << "; set GPU_SCHEDULER_SHARED to the folder that has it\n";
  return std::nullopt;
}

}  // namespace bench::replay
