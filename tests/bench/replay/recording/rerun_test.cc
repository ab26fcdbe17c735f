// A recording of an engine at work is computed again, and a changed one is noticed.
#include "bench/replay/recording/rerun.h"

#include "bench/policies/registry.h"
#include "bench/replay/recording/recording.h"
#include "scheduler/config/config.h"
#include "scheduler/live/record/recorder.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace event = sched::event;

// One for each process: cases run beside each other.
std::string record_file() { return tests::scratch_dir() + "/rerun_test.jsonl"; }

// Records three pods on a node of two GPUs: two are bound, one is told why not.
void record_some_work() {
  auto config = sched::config::parse("", "default", bench::registry());
  REQUIRE(config);
  sched::Engine engine(std::move(config->profiles), config->engine);
  auto recorder = sched::live::Recorder::create(record_file(), {"default", ""},
                                                [](const std::string& error) { FAIL(error); });
  REQUIRE(recorder);
  sched::Time now{std::chrono::seconds(1'767'225'600)};
  const auto apply = [&](sched::Event event) {
    now += std::chrono::milliseconds(1);
    engine.apply(event, now);
    (*recorder)->applied(std::move(event), now);
  };
  apply(event::NodeUpserted{tests::node("n1").gpus(2)});
  for (const char* name : {"a", "b", "c"}) {
    apply(event::PodUpserted{
        tests::pod(name).uid(name).served_by("gpu-scheduler").gpus(1).created_at(now)});
  }
  apply(event::Synced{});
  for (bool more = true; more;) {
    now += std::chrono::milliseconds(1);
    const auto decision = engine.step(now);
    (*recorder)->stepped(decision, now);
    more = decision.has_value();
  }
}

std::string content() {
  std::ifstream stream(record_file(), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void rewrite(const std::string& text) {
  std::ofstream(record_file(), std::ios::binary | std::ios::trunc) << text;
}

struct Outcome {
  int code = 0;
  std::string out;
  std::string complaints;
};

Outcome rerun(const std::string& file = record_file()) {
  std::ostringstream out;
  std::ostringstream complaints;
  const int code = bench::replay::rerun(file, bench::registry(), out, complaints);
  return {code, out.str(), complaints.str()};
}

}  // namespace

TEST_CASE("the same calls give the same decisions") {
  record_some_work();
  const Outcome outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "5 events, 4 steps, 3 decisions: all the same\n");
}

TEST_CASE("another decision is shown beside the recorded one") {
  record_some_work();
  std::string text = content();
  const auto at = text.find(R"("node":"n1")");
  REQUIRE(at != std::string::npos);
  rewrite(text.replace(at, 11, R"("node":"n2")"));
  const Outcome outcome = rerun();
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, Catch::Contains(":7: another decision") &&
                              Catch::Contains(R"("node":"n2")") &&
                              Catch::Contains(R"("node":"n1")"));
}

TEST_CASE("what a killed process left of its last line is left out") {
  record_some_work();
  std::string text = content();
  rewrite(text.substr(0, text.size() - 5));
  const Outcome outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK(outcome.out ==
        "the last line is cut off and was left out\n"
        "5 events, 3 steps, 3 decisions: all the same\n");
}

TEST_CASE("who is interrupted says how far it came") {
  record_some_work();
  std::ostringstream out;
  std::ostringstream complaints;
  const std::atomic<bool> stop{true};
  CHECK(bench::replay::rerun(record_file(), bench::registry(), out, complaints, &stop) == 0);
  CHECK(out.str() == "interrupted after 0 events, 0 steps, 0 decisions: all the same\n");
}

TEST_CASE("what is no recording is called what it is") {
  struct Case {
    const char* name;
    std::string text;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"empty", "", "has no whole line"},
      {"gzipped", "\x1f\x8b\x08 and so on\n", "is gzipped"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    std::ofstream(record_file(), std::ios::binary) << each.text;
    const auto opened = bench::replay::RecordingReader::open(record_file());
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().message, Catch::Contains(each.want));
  }
  std::remove(record_file().c_str());
  const auto folder = bench::replay::RecordingReader::open(tests::scratch_dir());
  REQUIRE_FALSE(folder);
  CHECK_THAT(folder.error().message, Catch::Contains("is a folder"));
  const auto missing = bench::replay::RecordingReader::open("/no/such/file");
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().message, Catch::Contains("No such file"));
}

TEST_CASE("files that are no recordings") {
  CHECK(rerun("/nowhere").code == 2);
  rewrite("");
  CHECK(rerun().code == 2);
  rewrite("apiVersion: v1\n");
  CHECK_THAT(rerun().complaints, Catch::Contains(":1: not the first line of a recording"));
  record_some_work();
  rewrite(content() + "{\"at\":1}\n");
  const Outcome outcome = rerun();
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.complaints, Catch::Contains(".jsonl:11: "));
  std::remove(record_file().c_str());
}
