#include "scheduler/answers/read_json.h"

#include "scheduler/answers/json.h"
#include "tests/support/catch.h"

#include <string>

using sched::answers::read_why;
using sched::answers::Why;

namespace {

Why whole() {
  Why why;
  why.verdict = Why::Verdict::kWaits;
  why.pod = {"ml", "train-0", ""};
  why.scheduler_name = "gpu-scheduler";
  why.asks = "8 H100";
  why.quota = "q";
  why.since = sched::Time{std::chrono::seconds{1'767'265'200}};
  why.node = "n1";
  why.headline = "no room";
  why.all_nodes = 8;
  why.fitting_nodes = 1;
  why.reasons = {{.nodes = 7, .reason = "Insufficient", .example = "n2: asked 8"}};
  why.details = "One. Two.";
  why.candidates = {{.node = "n1", .total_score = 50, .scores = {{"GpuPacking", 10, 5}}}};
  why.is_for_nodes = true;
  why.room.node = "n2";
  why.room.if_empty = "n3";
  why.room.if_empty_type = "H100-80GB";
  why.ends = {"ml/x (4)"};
  why.withheld = {.nodes = true, .pods = 2, .gpus = 3};
  return why;
}

}  // namespace

TEST_CASE("an answer is read as it was written") {
  const std::string json = to_json(whole());
  const auto read = read_why(json);
  REQUIRE(read);
  CHECK(to_json(*read) == json);
  CHECK(read->candidates == whole().candidates);
  CHECK(read->reasons == whole().reasons);
  CHECK(read->withheld == whole().withheld);
  CHECK(read->is_for_nodes);
  CHECK_FALSE(read_why(to_json(Why{}))->withheld);
}

TEST_CASE("an answer of another version is read as far as it is known") {
  const auto read = read_why(R"({"kind": "Why", "verdict": "Gated", "new": {"a": 1},
                                 "since": "2026-01-01T11:00:00Z", "pod": {"name": "x"}})");
  REQUIRE(read);
  CHECK(read->verdict == Why::Verdict::kGated);
  CHECK(read->pod.name == "x");
  CHECK(read->headline.empty());
}

TEST_CASE("what is no answer is refused in words") {
  for (const char* text :
       {"", "{", "[]", "null", "\xff", R"({"kind": "Why"})",
        R"({"kind": "Why", "verdict": "Dances", "since": "2026-01-01T11:00:00Z", "pod": {}})",
        R"({"kind": "Why", "verdict": "Waits", "since": "now", "pod": {}})",
        R"({"kind": "Plan", "verdict": "Waits", "since": "2026-01-01T11:00:00Z", "pod": {}})",
        R"({"kind": "Why", "verdict": 1, "since": "2026-01-01T11:00:00Z", "pod": {}})"}) {
    INFO(text);
    const auto read = read_why(text);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error(), Catch::StartsWith("the answer is no"));
  }
}
