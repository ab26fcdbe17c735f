// What kubectl gpu says of the demo's nodes, and the pods and quota of pods.yaml.
#pragma once

#include "scheduler/kubectl-gpu/run.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace sched::kubectl {

// 2026-01-01T11:00:00Z, shortly after what the files tell of
inline constexpr Time kNow{std::chrono::seconds{1'767'265'200}};

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

inline Said say(const std::vector<std::string>& arguments, void (*end)(int) = nullptr) {
  std::ostringstream out;
  std::ostringstream err;
  const int code =
      run(arguments, "1.2.3",
          {.out = out, .err = err, .style = {}, .now = [] { return kNow; }, .end = end});
  return {code, out.str(), err.str()};
}

inline std::string nodes_file() { return tests::source_dir() + "/bench/demo/nodes.yaml"; }
inline std::string pods_file() {
  return tests::source_dir() + "/tests/scheduler/kubectl-gpu/pods.yaml";
}

// Of the files' cluster; what is said, where all is well. The next step repeats where the answer is
// from: "--from …" here.
inline std::string answer(std::vector<std::string> arguments) {
  std::string from;
  for (const std::string& file : {nodes_file(), pods_file()}) {
    arguments.insert(arguments.end(), {"--from", file});
    from += " --from " + file;
  }
  Said said = say(arguments);
  CHECK(said.err.empty());
  CHECK(said.code == 0);
  if (const auto at = said.out.find(from); at != std::string::npos) {
    said.out.replace(at, from.size(), " --from …");
  }
  return said.out;
}

inline std::string written(const std::string& name, const std::string& text) {
  std::string file = tests::scratch_dir() + "/" + name;
  std::ofstream(file) << text;
  return file;
}

}  // namespace sched::kubectl
