// The questions of docs/questions.md, each answered on one screen of a terminal.
#include "tests/scheduler/kubectl-gpu/said.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace sched::kubectl {
namespace {

constexpr std::ptrdiff_t kLinesOfScreen = 24;

std::string answer_to(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.erase(arguments.begin(), arguments.begin() + 2);  // "kubectl gpu"
  arguments.insert(arguments.end(), {"--from", nodes_file(), "--from", pods_file()});
  const Said said = say(arguments);
  CHECK(said.code != kUnreadable);
  CHECK(said.err.empty());
  return said.out;
}

// The commands of the page's table, in order.
std::vector<std::string> commands_of_page() {
  std::ifstream page(tests::source_dir() + "/docs/questions.md");
  std::vector<std::string> commands;
  static const std::regex kCommand("`(kubectl gpu[^`]*)`");
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_search(line, std::regex("^\\| [0-9]+ \\|"))) continue;
    std::smatch found;
    if (std::regex_search(line, found, kCommand)) commands.push_back(found[1]);
  }
  return commands;
}

}  // namespace

TEST_CASE("each question of the page is answered on one screen") {
  const std::map<std::string, std::vector<std::string>> wanted = {
      {"kubectl gpu why pod/h100-no-room -n demo",
       {"WAITS 7m - nvidia.com/gpu: needs 8 on one node; most free is 2 of 8 (h100-2)",
        "Frees when: h100-2: vision/v1 (4) and demo/h100-finetune (2) end",
        "Would run if: +1 node like h100-1 (H100-80GB)",
        "or if: nodeSelector nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB (a100-2)"}},
      {"kubectl gpu queue", {"demo/h100-no-room", "WAITED", "7m"}},
      {"kubectl gpu nodes -o wide", {"GPUS OF", "demo/h100-whole (8)", "vision/v1 (4)"}},
      {"kubectl gpu", {"FREE", "LARGEST BLOCK", "2 (h100-2)"}},
      {"kubectl gpu quota", {"team-vision  H100  4/4"}},
      {"kubectl gpu why pod/one-gpu -n demo", {"PLACED a100-1 12m ago", "here"}},
      {"kubectl gpu plan --drain h100-2", {"Would end", "vision/v1"}},
      {"kubectl gpu plan --add H100x8=2", {"Would start: demo/h100-no-room → new-1"}},
  };
  const std::vector<std::string> commands = commands_of_page();
  CHECK(commands.size() == wanted.size());
  for (const std::string& command : commands) {
    INFO(command);
    const auto found = wanted.find(command);
    REQUIRE(found != wanted.end());
    const std::string said = answer_to(command);
    INFO(said);
    CHECK(std::count(said.begin(), said.end(), '\n') <= kLinesOfScreen);
    for (const std::string& part : found->second) CHECK_THAT(said, Catch::Contains(part));
  }
}

}  // namespace sched::kubectl
