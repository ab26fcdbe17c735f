// What would become of pods if something were different.
#include "scheduler/answers/plan.h"

#include "plugins/registry.h"
#include "scheduler/answers/json.h"
#include "scheduler/config/config.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sched::answers {
namespace {

using tests::gpu_quota;
using tests::node;
using tests::pod;
using tests::PodBuilder;

constexpr Time kNow{};
const std::set<std::string> kServed = {"gpu-scheduler"};

PodBuilder asked(std::string_view name) {
  PodBuilder builder = pod(name);
  builder.uid(name).cpu("1");
  return builder;
}

k8s::Pod of_controller(k8s::Pod pod, const std::string& kind) {
  pod.metadata.owner_references.push_back(
      {.api_version = "v1", .kind = kind, .name = "o", .uid = "o", .controller = true});
  return pod;
}

// A cluster with a node of two GPUs, and what is there besides.
Engine engine_with(const std::vector<Event>& there) {
  auto config = config::parse("", "the default configuration", plugins::registry());
  REQUIRE(config);
  Engine engine(std::move(config->profiles), config->engine);
  engine.apply(event::NodeUpserted{node("n").cpu("8").gpus(2)}, kNow);
  for (const Event& event : there) engine.apply(event, kNow);
  engine.apply(event::Synced{}, kNow);
  return engine;
}

Plan plan_with(const std::vector<Event>& there, Change change) {
  Engine engine = engine_with(there);
  if (change.drained.empty()) return plan(engine, nullptr, std::move(change), kServed, kNow);
  Engine undrained = engine_with(there);
  return plan(engine, &undrained, std::move(change), kServed, kNow);
}

// Where pods start, or "".
std::map<std::string, std::string> nodes_of(const Plan& plan) {
  std::map<std::string, std::string> nodes;
  for (const PlanRow& row : plan.starts) nodes[row.pod.name] = row.node;
  for (const PlanRow& row : plan.waits) nodes[row.pod.name] = "";
  return nodes;
}
using Nodes = std::map<std::string, std::string>;

TEST_CASE("a plan says of a new pod that is not decided on why it is not") {
  struct Case {
    std::string name;
    k8s::Pod pod;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"one of another scheduler", asked("a").served_by("other"),
       "no profile of the configuration serves schedulerName \"other\""},
      {"one that is bound", asked("a").on("elsewhere"), "it is on node elsewhere already"},
      {"one that has finished", asked("a").on("n").finished(), "it has finished (status.phase)"},
      {"one that ends", asked("a").terminating(),
       "it is being deleted (metadata.deletionTimestamp)"},
      {"one with a gate", asked("a").gated("example.com/wait"),
       "Scheduling is blocked due to non-empty scheduling gates"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Plan planned = plan_with({}, {.pods = {c.pod}});
      CHECK(planned.starts.empty());
      REQUIRE(planned.waits.size() == 1);
      CHECK(planned.waits.front().why == c.want);
      CHECK_FALSE(planned.all_start());
    }
  }
}

TEST_CASE("new pods see each other, and come behind those that wait") {
  const Plan planned = plan_with({event::PodUpserted{asked("first").gpus(1)}},
                                 {.pods = {asked("second").gpus(1), asked("third").gpus(1)}});
  CHECK(planned.start_anyway == 1);
  CHECK(nodes_of(planned) == Nodes{{"second", "n"}, {"third", ""}});
  CHECK(planned.still_waiting() == 0);
  CHECK_FALSE(planned.all_start());
}

TEST_CASE("a plan with more nodes tells which of the pods that wait would start") {
  const std::vector<Event> there = {event::PodUpserted{asked("two").gpus(2)},
                                    event::PodUpserted{asked("eight").gpus(8)},
                                    event::PodUpserted{asked("nine").gpus(9)}};
  Change change;
  change.objects.emplace_back(event::NodeUpserted{node("new").cpu("8").gpus(8)});
  const Plan planned = plan_with(there, std::move(change));
  CHECK(planned.start_anyway == 1);
  CHECK(nodes_of(planned) == Nodes{{"eight", "new"}});
  CHECK(planned.starts.front().origin == PlanRow::Origin::kWaits);
  CHECK(planned.still_waiting() == 1);
  CHECK(planned.causes() == std::map<std::string, std::size_t>{{"nodes", 1}});
  REQUIRE(planned.first_still_waiting(5).size() == 1);
  CHECK(planned.first_still_waiting(5).front().pod.name == "nine");
  CHECK(planned.first_still_waiting(0).empty());
  CHECK(planned.all_start());
}

TEST_CASE("a plan with another quota tells which pods it lets start") {
  k8s::Namespace ml;
  ml.metadata.name = "ml";
  const std::vector<Event> there = {event::NamespaceUpserted{ml},
                                    event::QuotaUpserted{gpu_quota("team").of("ml").line("*", 1)},
                                    event::PodUpserted{asked("a").in_namespace("ml").gpus(2)}};
  CHECK(plan_with(there, {}).starts.empty());
  Change change;
  change.objects.emplace_back(event::QuotaUpserted{gpu_quota("team").of("ml").line("*", 2)});
  CHECK(nodes_of(plan_with(there, std::move(change))) == Nodes{{"a", "n"}});
}

TEST_CASE("a drain that keeps a pod from starting is told, and lets others start in its place") {
  const k8s::Node drained = node("drained").cpu("8").gpus(4);
  k8s::Namespace ml;
  ml.metadata.name = "ml";
  PodBuilder first = asked("first").in_namespace("ml").gpus(4).created_at(kNow);
  PodBuilder second =
      asked("second").in_namespace("ml").gpus(1).created_at(kNow + std::chrono::seconds(1));
  const std::vector<Event> there = {event::NodeUpserted{drained},
                                    event::NamespaceUpserted{ml},
                                    event::QuotaUpserted{gpu_quota("team").of("ml").line("*", 4)},
                                    event::PodUpserted{first},
                                    event::PodUpserted{second},
                                    event::PodUpserted{asked("both").gpus(1)}};
  const auto names = [](const std::vector<PodRef>& pods) {
    std::vector<std::string> all;
    for (const PodRef& one : pods) all.push_back(one.name);
    return all;
  };
  const Plan stopped = plan_with(there, {.drained = {drained}});
  CHECK(names(stopped.held_up) == std::vector<std::string>{"first"});
  CHECK(nodes_of(stopped) == Nodes{{"second", "n"}});
  CHECK(stopped.start_anyway == 1);
  CHECK(stopped.still_waiting() == 1);
  CHECK_FALSE(stopped.all_start());
  Change with_another{.drained = {drained}};
  with_another.objects.emplace_back(event::NodeUpserted{node("new").cpu("8").gpus(4)});
  const std::vector<Event> alone = {event::NodeUpserted{drained}, event::PodUpserted{first}};
  const Plan moved = plan_with(alone, std::move(with_another));
  CHECK(moved.held_up.empty());
  CHECK(moved.start_anyway == 1);
  CHECK(moved.all_start());
}

TEST_CASE("of a drained node's pods those of controllers here are created anew, and daemons stay") {
  const k8s::Node drained = node("drained").cpu("8").gpus(4);
  const std::vector<k8s::Pod> pods = {
      of_controller(asked("small").gpus(2).on("drained"), "ReplicaSet"),
      of_controller(asked("daemon").on("drained"), "DaemonSet"),
      of_controller(asked("static").on("drained"), "Node"),
      of_controller(asked("foreign").served_by("other").on("drained"), "ReplicaSet"),
      asked("alone").gpus(1).on("drained"),
      of_controller(asked("another").gpus(1).on("drained"), "Job")};
  std::vector<Event> there = {event::NodeUpserted{drained}};
  for (const k8s::Pod& one : pods) there.emplace_back(event::PodUpserted{one});
  const Plan planned = plan_with(there, {.drained = {drained}, .evicted = pods});
  CHECK(nodes_of(planned) == Nodes{{"small", "n"}, {"another", ""}});
  CHECK(planned.starts.front().origin == PlanRow::Origin::kEvicted);
  CHECK_THAT(to_json(planned), Catch::Contains(R"("origin": "Evicted")"));
  std::vector<std::string> ended;
  for (const PodRef& one : planned.ended) ended.push_back(one.name);
  CHECK(ended == std::vector<std::string>{"alone"});
  REQUIRE(planned.elsewhere.size() == 1);
  CHECK(planned.elsewhere.front().name == "foreign");
}

}  // namespace
}  // namespace sched::answers
