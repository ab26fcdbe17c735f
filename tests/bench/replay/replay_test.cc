// From files to files.
#include "bench/replay/replay.h"

#include "bench/policies/registry.h"
#include "tests/bench/replay/small_replay.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>

using bench::replay::ReplayOptions;
using bench::replay::WhenFull;

namespace fs = std::filesystem;
using tests::Ended;
using tests::Folder;
using tests::run_replay;
using tests::small_replay;

namespace {

std::string without_seconds(const std::string& text) {
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"seconds\"") == std::string::npos) kept += line + '\n';
  }
  return kept;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("the same replay gives the same files, byte for byte") {
  const Folder folder;
  ReplayOptions options = small_replay(folder);
  options.decisions = true;
  const std::string arrival = GENERATE("inflate:130", "trace", "stationary:80");
  INFO(arrival);
  options.arrival = arrival;
  options.out = folder.file("once");
  const Ended once = run_replay(options);
  INFO(once.complaints);
  REQUIRE(once.code == 0);
  options.out = folder.file("again");
  options.jobs = 4;  // in whatever order they end
  REQUIRE(run_replay(options).code == 0);
  const auto same = [&](const std::string& name) {
    return folder.read("once/" + name) == folder.read("again/" + name);
  };
  CHECK(same("steps.csv"));
  CHECK(same("decisions.jsonl"));
  CHECK(without_seconds(folder.read("once/summary.json")) ==
        without_seconds(folder.read("again/summary.json")));
  CHECK(lines(folder.read("once/decisions.jsonl")) > 100);
  CHECK(lines(folder.read("once/steps.csv")) > 4);
  CHECK_THAT(folder.read("once/report.html"), Catch::Contains("</html>"));
  // Nothing half-written is left.
  CHECK(std::distance(fs::directory_iterator(folder.file("once")), {}) == 4);
}

TEST_CASE("what is printed") {
  const Folder folder;
  const Ended outcome = run_replay(small_replay(folder));
  CHECK(outcome.code == 0);
  CHECK(outcome.complaints.empty());
  CHECK_THAT(outcome.out, Catch::StartsWith("read pods: ") && Catch::Contains("40 pods") &&
                              Catch::Contains("6 nodes") &&
                              Catch::Contains("pods, arrival inflate:130") &&
                              Catch::Contains("fgd ") && Catch::Contains("best_fit "));
}

TEST_CASE("a condition that holds fails the replay") {
  const Folder folder;
  ReplayOptions options = small_replay(folder);
  options.fail_if = {"unallocated>100", "arrived_pods<1"};
  CHECK(run_replay(options).code == 0);
  options.fail_if = {"arrived_pods>1"};
  const Ended outcome = run_replay(options);
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("failed: fgd on pods: arrived_pods is ") &&
                              Catch::Contains("failed: best_fit on pods: "));
}

TEST_CASE("what cannot be used is said before anything is run") {
  const Folder folder;
  const ReplayOptions good = small_replay(folder);
  struct Case {
    const char* name;
    void (*spoil)(ReplayOptions&);
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"policy", [](ReplayOptions& o) { o.policies = {"fgdd"}; }, "policy \"fgdd\""},
      {"twice",
       [](ReplayOptions& o) {
         o.policies = {"fgd", "fgd"};
       },
       "a second policy"},
      {"arrival", [](ReplayOptions& o) { o.arrival = "deflate"; }, "deflate"},
      {"life", [](ReplayOptions& o) { o.life = "forever"; }, "forever"},
      {"seed", [](ReplayOptions& o) { o.seeds = {"9..1"}; }, "--seed 9..1"},
      {"fail-if", [](ReplayOptions& o) { o.fail_if = {"x>1"}; }, "there is no figure \"x\""},
      {"until", [](ReplayOptions& o) { o.until = "soon"; }, "--until soon"},
      {"nodes", [](ReplayOptions& o) { o.nodes = "/nowhere"; }, "/nowhere"},
      {"pods", [](ReplayOptions& o) { o.pods.push_back(o.pods[0]); }, "a second trace"},
      {"out", [](ReplayOptions& o) { o.out = "/proc/no"; }, "--out /proc/no"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    ReplayOptions options = good;
    c.spoil(options);
    const Ended outcome = run_replay(options);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.complaints, Catch::StartsWith("replay: ") && Catch::Contains(c.complaint));
  }
}

TEST_CASE("pods of a group start together only where all of them come and may wait") {
  const Folder folder;
  std::string cluster =
      R"({"kind": "Node", "metadata": {"name": "n"},
          "status": {"allocatable": {"cpu": "8", "pods": "110", "nvidia.com/gpu": "8"},
                     "conditions": [{"type": "Ready", "status": "True"}]}}
)";
  std::replace(cluster.begin(), cluster.end() - 1, '\n', ' ');  // a line for each object
  for (const char* name : {"a", "b"}) {
    cluster += R"({"kind": "Pod", "metadata": {"name": ")" + std::string(name) +
               R"(", "namespace": "ml", "creationTimestamp": "2030-01-31T08:00:00Z", )" +
               R"("annotations": {"gpu-scheduler.io/pod-group": "train", )" +
               R"("gpu-scheduler.io/pod-group-min-count": "2"}}, "spec": {"containers": [)" +
               R"({"name": "c", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}})" + "\n";
  }
  struct Case {
    const char* arrival;
    std::optional<WhenFull> when_full;
    bool left_out;
  };
  const std::vector<Case> cases = {
      {"inflate:100", std::nullopt, true},   {"inflate:100", WhenFull::kQueue, true},
      {"stationary:10", std::nullopt, true}, {"trace", std::nullopt, false},
      {"backlog", std::nullopt, false},      {"trace", WhenFull::kRefuse, true},
  };
  ReplayOptions options = small_replay(folder);
  options.nodes = folder.write("cluster.json", cluster);
  options.pods = {options.nodes};
  options.policies = {"spread"};
  options.seeds = {"1"};
  options.fail_if = {"refused_pods>1", "waiting_pods>0", "placed_pods<2"};
  for (const Case& c : cases) {
    INFO(c.arrival << (c.when_full ? ", otherwise when full" : ""));
    options.arrival = c.arrival;
    options.when_full = c.when_full;
    const Ended outcome = run_replay(options);
    INFO(outcome.out << outcome.complaints);
    CHECK(outcome.code == 0);
    const bool told =
        outcome.out.find("2 pods whose groups are not considered") != std::string::npos;
    CHECK(told == c.left_out);
  }
}

TEST_CASE("a replay that is interrupted keeps what had finished") {
  // Whoever watches the progress presses Ctrl-C after the first run.
  struct Watcher : std::stringbuf {
    std::atomic<bool> stop = false;
    int sync() override {
      stop = stop || str().find("1/4 runs") != std::string::npos;
      return 0;
    }
  };
  const Folder folder;
  ReplayOptions options = small_replay(folder);
  options.out = folder.file("out");
  options.decisions = true;
  options.progress = true;
  Watcher watcher;
  std::ostringstream out;
  std::ostream complaints(&watcher);
  CHECK(bench::replay::replay(options, bench::registry(), out, complaints, watcher.stop) == 0);
  CHECK_THAT(watcher.str(), Catch::Contains("interrupted: 1 of 4 runs had finished"));
  CHECK_THAT(out.str(), Catch::Contains("fgd"));
  CHECK_THAT(folder.read("out/summary.json"), Catch::Contains("\"interrupted\": true"));
  CHECK_THAT(folder.read("out/report.html"), Catch::Contains("had not finished are missing"));
  CHECK_FALSE(folder.read("out/decisions.jsonl").empty());

  // The next replay there leaves nothing of it.
  options.decisions = false;
  CHECK(run_replay(options).code == 0);
  CHECK_FALSE(fs::exists(folder.file("out/decisions.jsonl")));
  CHECK_THAT(folder.read("out/summary.json"), !Catch::Contains("interrupted"));
}

TEST_CASE("a replay that is interrupted before its first run ends writes nothing") {
  const Folder folder;
  ReplayOptions options = small_replay(folder);
  options.out = folder.file("out");
  options.decisions = true;
  const Ended outcome = run_replay(options, true);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.complaints, Catch::Contains("interrupted: 0 of 4 runs had finished"));
  CHECK(fs::is_empty(folder.file("out")));
}
