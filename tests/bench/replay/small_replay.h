// A small replay from files to files.
#pragma once

#include "bench/policies/registry.h"
#include "bench/replay/replay.h"
#include "tests/support/paths.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace tests {

// A folder of this process and case, gone afterwards.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(tests::scratch_dir()) / "replay") {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

// A trace of few nodes and pods of many sizes.
[[nodiscard]] inline bench::replay::ReplayOptions small_replay(const Folder& folder) {
  std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\n";
  for (int i = 0; i < 6; ++i) {
    nodes += "node-" + std::to_string(i) + ",32000,131072," + std::to_string(2 + i % 3) +
             (i % 2 == 0 ? ",T4\n" : ",G2\n");
  }
  std::string pods =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n";
  for (int i = 0; i < 40; ++i) {
    const int share = i % 4 == 0 ? 1'000 : 100 + 50 * (i % 15);
    pods += "pod-" + std::to_string(i) + ",2000,1024,1," + std::to_string(share) + "," +
            (i % 7 == 0 ? "T4" : "") + ",LS,Running," + std::to_string(10 * i) + "," +
            std::to_string(10 * i + 300) + "," + std::to_string(10 * i) + "\n";
  }
  bench::replay::ReplayOptions options;
  options.nodes = folder.write("nodes.csv", nodes);
  options.pods = {folder.write("pods.csv", pods)};
  options.policies = {"fgd", "best_fit"};
  options.seeds = {"1..2"};
  options.jobs = 1;
  return options;
}

// What a command has left.
struct Ended {
  int code = 0;
  std::string out;
  std::string complaints;
};

[[nodiscard]] inline Ended run_replay(const bench::replay::ReplayOptions& options,
                                      bool stopped = false) {
  std::ostringstream out;
  std::ostringstream complaints;
  const std::atomic<bool> stop{stopped};
  const int code = bench::replay::replay(options, bench::registry(), out, complaints, stop);
  return {code, out.str(), complaints.str()};
}

}  // namespace tests
