// A recording of an engine at work is computed again, and a changed one is noticed.
#include "bench/replay/recording/rerun.h"

#include "bench/policies/registry.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/recording/replay_recording.h"
#include "scheduler/config/config.h"
#include "scheduler/live/record/recorder.h"
#include "scheduler/live/record/recording_ring.h"
#include "tests/bench/replay/small_replay.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

using tests::Ended;

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

Ended rerun(const std::string& file = record_file()) {
  std::ostringstream out;
  std::ostringstream complaints;
  const int code = bench::replay::rerun(file, bench::registry(), out, complaints);
  return {code, out.str(), complaints.str()};
}

Ended rerun_with(const std::string& policy) {
  std::ostringstream out;
  std::ostringstream complaints;
  const std::atomic<bool> stop{false};
  bench::replay::ReplayOptions options;
  options.policies = {policy};
  options.jobs = 1;
  const int code = bench::replay::replay_recording(record_file(), options, bench::registry(), out,
                                                   complaints, stop);
  return {code, out.str(), complaints.str()};
}

}  // namespace

TEST_CASE("the same calls give the same decisions") {
  record_some_work();
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "5 events, 4 steps, 3 decisions: all the same\n");
}

TEST_CASE("another decision is shown beside the recorded one") {
  record_some_work();
  std::string text = content();
  const auto at = text.find(R"("node":"n1")");
  REQUIRE(at != std::string::npos);
  rewrite(text.replace(at, 11, R"("node":"n2")"));
  const Ended outcome = rerun();
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, Catch::Contains(":7: another decision") &&
                              Catch::Contains(R"("node":"n2")") &&
                              Catch::Contains(R"("node":"n1")"));
}

TEST_CASE("what a killed process left of its last line is left out") {
  record_some_work();
  std::string text = content();
  rewrite(text.substr(0, text.size() - 5));
  const Ended outcome = rerun();
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
  // Reading it fails: nothing is at address 0.
  CHECK_THAT(rerun("/proc/self/mem").complaints, Catch::Contains("cannot be read after line 0"));
  rewrite("");
  CHECK(rerun().code == 2);
  rewrite("apiVersion: v1\n");
  CHECK_THAT(rerun().complaints, Catch::Contains(":1: not the first line of a recording"));
  record_some_work();
  rewrite(content() + "{\"at\":1}\n");
  const Ended outcome = rerun();
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.complaints, Catch::Contains(".jsonl:11: "));
  std::remove(record_file().c_str());
}

namespace {

using sched::Time;
using namespace std::chrono_literals;

// The work of an engine as the ring of the last hour has it: a node of two GPUs, and every ten
// minutes a pod of two, which ends before the next one comes.
sched::live::RecordingParts pods_over(std::chrono::minutes length) {
  auto config = sched::config::parse("", "default", bench::registry());
  REQUIRE(config);
  sched::Engine engine(std::move(config->profiles), config->engine);
  sched::live::RecordingRing ring({"default", ""}, {});
  Time now{std::chrono::seconds(1'767'225'600)};
  const auto apply = [&](sched::Event event) {
    engine.apply(event, now);
    ring.add(sched::live::AppliedCall{std::move(event), now});
  };
  apply(event::NodeUpserted{tests::node("n1").gpus(2)});
  apply(event::Synced{});
  for (auto at = 0min; at < length; at += 1min, now += 1min) {
    const std::string name = "p" + std::to_string(at.count() / 10);
    const k8s::Pod pod =
        tests::pod(name).uid(name).served_by("gpu-scheduler").gpus(2).created_at(now);
    if (at.count() % 10 == 0) apply(event::PodUpserted{pod});
    if (at.count() % 10 == 9) apply(event::PodDeleted{{pod.metadata.namespace_, name, name}});
    for (bool more = true; more;) {
      const auto decision = engine.step(now);
      ring.add(sched::live::StepCall{decision, now});
      more = decision.has_value();
      if (!decision) continue;
      if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) {
        apply(event::BindSucceeded{bind->pod, bind->node});
        k8s::Pod bound = pod;
        bound.spec.node_name = bind->node;
        apply(event::PodUpserted{bound});
      }
    }
  }
  return ring.parts();
}

std::string packed(const sched::live::RecordingParts& parts) {
  std::string bytes;
  for (const auto& part : parts) bytes += *part;
  return bytes;
}

}  // namespace

TEST_CASE("a packed recording that begins with the first call is computed again exactly") {
  rewrite(packed(pods_over(30min)));
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::EndsWith("decisions: all the same\n"));
}

TEST_CASE("one that begins with a snapshot is compared by the nodes of its binds, and says so") {
  rewrite(packed(pods_over(180min)));
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::StartsWith("begins with a snapshot of 2 objects: what else the engine knew") &&
                 Catch::Contains("approximate: of 7 pods that were bound 7 go to the same node, 0 "
                                 "to another, 0 are not bound; 0 more are\n"));
}

TEST_CASE("a damaged part is told with its place, and what is behind it is read") {
  const auto parts = pods_over(60min);
  REQUIRE(parts.size() > 5);
  std::string bytes;
  std::size_t damaged_at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 3) damaged_at = bytes.size();
    bytes += *parts[i];
  }
  bytes[damaged_at + parts[3]->size() / 2] ^= 0x40;
  rewrite(bytes);
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("calls are missing before it") &&
                 Catch::Contains(record_file() + ": byte " + std::to_string(damaged_at) + ": ") &&
                 Catch::Contains("approximate: of "));
  const auto recording = bench::replay::read_recording(record_file());
  REQUIRE(recording);
  CHECK(recording->damages.size() == 1);
  CHECK(std::holds_alternative<sched::live::StepCall>(recording->calls.back()));
  // The first part says with which configuration; without it there is nothing to compute.
  bytes[15] ^= 0x40;
  rewrite(bytes);
  CHECK(rerun().code == 2);
}

TEST_CASE("a packed recording whose end is missing is read up to there") {
  const std::string bytes = packed(pods_over(60min));
  rewrite(bytes.substr(0, bytes.size() - 10));
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("cut off"));
  std::remove(record_file().c_str());
}

TEST_CASE("another policy's figures are told to be doubtful behind a gap") {
  record_some_work();
  std::string text = content();
  const auto end_of_first_line = text.find('\n') + 1;
  CHECK_THAT(rerun_with("spread").out, !Catch::Contains("missing"));
  text.insert(end_of_first_line,
              "{\"at\":1767225600000000,\"lost\":{\"events\":2,\"decisions\":1}}\n");
  rewrite(text);
  const Ended outcome = rerun_with("spread");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::StartsWith("read rerun_test: 5 events, ") && Catch::Contains(" 4 steps\n") &&
                 Catch::Contains("gaps: 1, the first 0 s after the beginning; 2 events and 1 "
                                 "decisions are missing, as far as is known: figures may be wrong "
                                 "from there on\n"));
  std::remove(record_file().c_str());
}

TEST_CASE("a recorded node with more GPUs than can be is refused, not counted") {
  record_some_work();
  std::string text = content();
  const std::string gpus = "\"nvidia.com/gpu\":\"2\"";
  const auto at = text.find(gpus);
  REQUIRE(at != std::string::npos);
  text.replace(at, gpus.size(), "\"nvidia.com/gpu\":\"1000000000000\"");
  rewrite(text);
  const Ended outcome = rerun_with("spread");
  CHECK(outcome.code == 2);
  CHECK(outcome.complaints == "replay: " + record_file() +
                                  ": Node \"n1\": nvidia.com/gpu is 1000000000000: want 0 to "
                                  "10000\n");
  std::remove(record_file().c_str());
}

TEST_CASE("behind a gap that the recorder tells of the comparison is approximate") {
  record_some_work();
  std::string text = content();
  const auto end_of_first_line = text.find('\n') + 1;
  text.insert(end_of_first_line,
              "{\"at\":1767225600000000,\"lost\":{\"events\":2,\"decisions\":1}}\n");
  rewrite(text);
  const Ended outcome = rerun();
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains(":2: 2 events and 1 decisions are missing") &&
                 Catch::Contains("approximate: of 2 pods that were bound 2 go to the same node"));
  std::remove(record_file().c_str());
}
