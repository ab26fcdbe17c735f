#include "scheduler/answers/read_json.h"

#include "scheduler/answers/json.h"
#include "tests/support/catch.h"

#include <string>

using sched::answers::Queue;
using sched::answers::QuotasSeen;
using sched::answers::read_queue;
using sched::answers::read_quotas;
using sched::answers::read_why;
using sched::answers::Why;

namespace {

constexpr sched::Time kThen{std::chrono::seconds{1'767'265'200}};

Why whole() {
  Why why;
  why.verdict = Why::Verdict::kWaits;
  why.pod = {"ml", "train-0", ""};
  why.scheduler_name = "gpu-scheduler";
  why.asks = "8 H100";
  why.quota = "q";
  why.since = kThen;
  why.node = "n1";
  why.headline = "no room";
  why.all_nodes = 8;
  why.fitting_nodes = 1;
  why.reasons = {{.nodes = 7, .reason = "Insufficient", .example = "n2: asked 8"}};
  why.details = "One. Two.";
  why.candidates = {{.node = "n1", .total_score = 50, .scores = {{"GpuPacking", 10, 5}}}};
  why.is_for_nodes = true;
  why.is_for_pods = true;
  why.is_for_quota = true;
  why.quota_never_gives = true;
  why.room.node = "n2";
  why.room.if_empty = "n3";
  why.room.if_empty_type = "H100-80GB";
  why.ends = {"ml/x (4)"};
  why.remedies = {{.change = {.what = "nodeSelector zone", .to = "b", .node = "n4"},
                   .ends = {"ml/y (2)", "1 other pod (3)"}}};
  why.withheld = {.nodes = true, .pods = 2, .gpus = 3};
  why.chosen = {.decision = 42,
                .at = kThen,
                .score = 87,
                .fitting_nodes = 6,
                .all_nodes = 8,
                .attempts = 2,
                .waited = std::chrono::seconds(4),
                .runner_up = sched::answers::Chosen::RunnerUp{"n2", 84}};
  why.data_age = std::chrono::seconds(2);
  return why;
}

Queue whole_queue() {
  Queue queue;
  sched::answers::QueueRow& row = queue.rows.emplace_back();
  row.position = 1;
  row.place_in_line = 3;
  row.line_length = 17;
  row.pod = {"ml", "train-0", ""};
  row.quota = "q";
  row.asks = "8 H100";
  row.gpus = 8;
  row.created = kThen;
  row.blocked_by = "quota";
  row.next = "1 more must be freed";
  row.message = "quota q: 1 more must be freed";
  queue.never = {{.pod = {"ml", "never", ""}, .why = "an annotation"}};
  queue.unserved = {
      {.pod = {"ml", "typo", ""}, .scheduler_name = "gpu-sch", .meant = "gpu-scheduler"}};
  queue.left_out = 4;
  queue.data_age = std::chrono::seconds(3);
  queue.nodes_withheld = true;
  return queue;
}

QuotasSeen whole_quotas() {
  const auto gpus = [](int count) { return k8s::Quantity::of(count); };
  QuotasSeen quotas{
      .namespace_ = "ml", .of = {}, .data_age = std::chrono::seconds(4), .is_withheld = true};
  sched::QuotaStatus quota{.name = "q", .uid = {}, .status = {}, .parent = "outer"};
  quota.status.total = {gpus(8), gpus(7), gpus(1), gpus(2), gpus(3)};
  quota.status.quotas = {{.gpu_type = "H100", .use = quota.status.total}};
  quota.status.conditions = {
      {.type = "Ready", .status = "True", .reason = "Enforced", .message = "m"}};
  quotas.of.quotas = {quota};
  quotas.of.without = "nothing";
  quotas.of.in_line = 17;
  quotas.of.head = sched::PodRef{"ml", "first", ""};
  quotas.of.head_since = kThen;
  quotas.of.first_place = 3;
  quotas.loans = {
      {.pod = "ml/x", .quota = "q", .gpu_type = "H100", .gpus = gpus(2), .since = kThen}};
  return quotas;
}

}  // namespace

TEST_CASE("a queue and quotas are read as they were written") {
  const std::string queue = to_json(whole_queue());
  const auto read_as_queue = read_queue(queue);
  REQUIRE(read_as_queue);
  CHECK(to_json(*read_as_queue) == queue);
  CHECK(read_as_queue->rows.at(0).line_length == 17);
  const std::string quotas = to_json(whole_quotas());
  const auto read_as_quotas = read_quotas(quotas);
  REQUIRE(read_as_quotas);
  CHECK(to_json(*read_as_quotas) == quotas);
  CHECK(read_as_quotas->of.quotas.at(0) == whole_quotas().of.quotas.at(0));
  CHECK(read_as_quotas->loans == whole_quotas().loans);

  QuotasSeen without_head = whole_quotas();
  without_head.of.head.reset();
  CHECK_FALSE(read_quotas(to_json(without_head))->of.head);
  CHECK(to_json(*read_quotas(to_json(QuotasSeen{}))) == to_json(QuotasSeen{}));
  CHECK_THAT(to_json(QuotasSeen{}), Catch::Contains(R"("headSince": null)"));  // no pod waits
  for (const std::string& other : {quotas, to_json(whole()), std::string("[]"),
                                   std::string(R"({"kind": "Queue", "pods": [{"created": "x"}]})"),
                                   std::string(R"({"kind": "Queue", "pods": [{"gpus": "x"}]})")}) {
    INFO(other);
    REQUIRE_FALSE(read_queue(other));
    CHECK_THAT(read_queue(other).error(), Catch::StartsWith("the answer is no"));
  }
  CHECK_FALSE(read_quotas(queue));
  CHECK_FALSE(read_quotas(R"({"kind": "Quotas", "quotas": [{"total": {"used": "many"}}]})"));
}

TEST_CASE("an overview is read as it was written") {
  sched::answers::Overview overview;
  overview.gpus = {.total = 16, .used = 9, .held = 1, .free = 6};
  overview.instances = {.total = 7, .used = 3, .held = 0, .free = 4};
  overview.replicas = {.total = 5, .used = 5, .held = 0, .free = 0};
  overview.types = {{.type = "H100-80GB",
                     .form = "mig-1g.10gb",
                     .nodes = 2,
                     .pieces = overview.instances,
                     .largest_block = 4,
                     .largest_on = "n1",
                     .whole_nodes_free = 1}};
  overview.closed = {{.node = "n2", .why = "cordoned", .pieces = 8, .backed_off = true}};
  overview.waiting = {.pods = 4, .gpus = 12, .gated = 1, .never = 2};
  overview.data_age = std::chrono::seconds(2);
  const auto read = sched::answers::read_overview(to_json(overview));
  REQUIRE(read);
  CHECK(*read == overview);
  CHECK(*sched::answers::read_overview(to_json(sched::answers::Overview{})) ==
        sched::answers::Overview{});
  CHECK_FALSE(sched::answers::read_overview(to_json(whole())));
}

TEST_CASE("an answer is read as it was written") {
  const std::string json = to_json(whole());
  const auto read = read_why(json);
  REQUIRE(read);
  CHECK(to_json(*read) == json);
  CHECK(read->candidates == whole().candidates);
  CHECK(read->reasons == whole().reasons);
  CHECK(read->withheld == whole().withheld);
  CHECK(read->chosen == whole().chosen);
  CHECK(read->data_age == whole().data_age);
  CHECK_FALSE(read_why(to_json(Why{}))->chosen);
  CHECK_FALSE(read_why(to_json(Why{}))->data_age);
  CHECK(read->is_for_nodes);
  CHECK(read->is_for_pods);
  CHECK(read->is_for_quota);
  CHECK(read->quota_never_gives);
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
