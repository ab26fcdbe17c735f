// The answers why a pod waits and about the cluster, their access rights and their budget.
#include "scheduler/answers/json.h"
#include "tests/scheduler/live/tenants/world.h"

#include <chrono>
#include <string>
#include <vector>

using namespace tests::tenants;

TEST_CASE("a tenant is told why its pod waits, and no name of nodes or of others' pods") {
  World world;
  const std::string text = world.body(kWaits);
  const Json got = Json::parse(text);
  CHECK(got["kind"] == "Why");
  CHECK(got["verdict"] == "Waits");
  CHECK(got["asks"] == "8 GPU");
  CHECK_THAT(got["headline"].get<std::string>(),
             Catch::StartsWith("nvidia.com/gpu: needs 8 on one node"));
  CHECK(got["reasons"] == Json::parse(R"([{"nodes": 1, "reason": "Insufficient nvidia.com/gpu",
                         "example": "nvidia.com/gpu: asked 8, free 0 of 8"}])"));
  CHECK(got["freesWhen"]["node"] == "");
  CHECK(got["freesWhen"]["podsEnd"] == Json({"red/runs (5)"}));
  CHECK(got["wouldRunOnOneMoreOfType"] == "H100-80GB");
  CHECK(got["withheld"] ==
        Json::parse(R"({"nodes": true, "podsThatEnd": 1, "gpusOfPodsThatEnd": 3})"));
  for (const char* name : {"machine-1", "blue", "secret"}) CHECK_THAT(text, !Catch::Contains(name));
}

TEST_CASE("whoever asks why a pod waits has its status say the same") {
  World world;
  static_cast<void>(world.body(kWaits));
  REQUIRE(world.judged.size() == 1);
  CHECK(world.judged[0].pod.uid == world.pods.at("red/waits").metadata.uid);
  REQUIRE(world.judged[0].told);
  // Nothing has changed since it was decided on.
  CHECK(world.judged[0].told->message == world.decided.at("waits").message);
  CHECK(world.judged[0].told == world.decided.at("waits"));

  // Three free GPUs do not help it, so it is not decided on anew.
  world.apply(event::PodDeleted{ref_of(world.pods.at("blue/secret"))});
  world.decide();
  CHECK_THAT(world.decided.at("waits").message, Catch::Contains("most free is 0 of 8"));
  static_cast<void>(world.body(kWaits));
  REQUIRE(world.judged[1].told);
  CHECK(world.judged[1].told->reason == decision::Unschedulable::Reason::kUnschedulable);
  CHECK_THAT(world.judged[1].told->message,
             Catch::StartsWith("0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "
                               "nvidia.com/gpu: needs 8 on one node; most free is 3 of 8 "
                               "(machine-1)."));
}

TEST_CASE("what a pod is told with an answer comes before what is decided later") {
  World world;
  world.ask(kWaits);
  for (const Question& question : world.put) question.answer(world.engine);
  // The loop has not run since, and the engine may decide at once.
  REQUIRE(world.judged.size() == 1);
  CHECK(world.judged[0].told == world.decided.at("waits"));
}

TEST_CASE("the status of a pod that was not refused, or whose turn comes, is left alone") {
  SharedQuota world;
  static_cast<void>(world.body("namespace=red&pod=second"));
  REQUIRE(world.judged.back().told);
  CHECK(world.judged.back().told->message == world.decided.at("second").message);
  CHECK(world.judged.back().told == world.decided.at("second"));
  CHECK(world.judged.back().told->reason == decision::Unschedulable::Reason::kGpuQuotaExceeded);
  world.add(World::ours("red", "new").gpus(2));  // nothing was decided on it yet
  for (const char* name : {"gated", "runs", "new"}) {
    static_cast<void>(world.body(std::string("namespace=red&pod=") + name));
    CHECK_FALSE(world.judged.back().told);
  }
}

TEST_CASE("each right shows what it is the right to see") {
  World world;
  const std::string both = world.body(kWaits, "both");
  CHECK_THAT(both, Catch::Contains("blue/secret (3)") && !Catch::Contains("machine-1"));
  const std::string operating = world.body(kWaits, "operator");
  CHECK_THAT(operating, Catch::Contains("machine-1") && !Catch::Contains("secret"));

  answers::Why all =
      answers::why_seen(world.engine, world.pods.at("red/waits"), {"gpu-scheduler"}, kNow);
  world.notes.name_ends(all);
  CHECK(world.body(kWaits, "boss") == answers::to_json(all));
  world.rights["reader"] = {"get pods in \"red\"", "list pods", "list nodes"};
  CHECK(world.body(kWaits, "reader") == answers::to_json(all));
}

TEST_CASE("who may list all pods and nodes is told the overview of kubectl gpu, and nobody else") {
  World world;
  const std::string path = "/answers/overview";
  world.rights["reader"] = {"list pods", "list nodes"};
  world.add(World::ours("blue", "gated").gpus(2).gated("later"));
  world.data_age = std::chrono::milliseconds(2'999);
  answers::Overview all = answers::overview_of(world.engine.gpu_nodes(), world.engine.in_line(),
                                               world.engine.quota_statuses());
  CHECK(all.waiting.pods == 2);
  all.data_age = std::chrono::seconds(2);
  CHECK(world.body("", "reader", path) == answers::to_json(all));
  CHECK(Json::parse(world.body("namespace=blue", "reader", path))["waiting"]["pods"] == 1);
  for (const char* missing : {"list pods", "list nodes"}) {
    const std::string token = std::string("without ") + missing;
    world.rights[token] = {"list pods", "list nodes", "get pods in \"red\""};
    world.rights[token].erase(missing);
    const Reply refused = world.get("", token, path);
    CHECK(refused.status == 403);
    CHECK_THAT(*refused.body, Catch::Contains(missing));
  }
  CHECK(world.get("pod=waits", "reader", path).status == 400);
}

TEST_CASE("who may not get the pods of a namespace learns nothing, not even what is there") {
  World world;
  for (const char* token : {"eve", "blue-user"}) {
    const Reply there = world.get(kWaits, token);
    const Reply nothing = world.get("namespace=red&pod=nothing", token);
    CHECK(there.status == 403);
    CHECK(nothing.status == 403);
    CHECK(*there.body == *nothing.body);
    CHECK_THAT(*there.body, Catch::Contains("cannot get pods in \"red\"") &&
                                Catch::Contains("a Role with that right would let it"));
  }
  CHECK(world.get(kWaits, std::nullopt).status == 401);
  CHECK(world.get(kWaits, "made-up").status == 401);
  CHECK(world.read.empty());
  CHECK(world.put.empty());
}

TEST_CASE("a pod that there is not is said to be none to those who may know") {
  World world;
  CHECK(world.get("namespace=red&pod=nothing").status == 404);
  CHECK(world.put.empty());
}

TEST_CASE("questions that make no sense are refused in words") {
  World world;
  for (const char* query : {"", "namespace=red", "pod=waits", "namespace=red&pod=waits&limit=1",
                            "namespace=red&pod=..%2Fblue", "namespace=%zz&pod=waits",
                            "namespace=red&namespace=blue&pod=waits", "namespace=&pod=waits"}) {
    INFO(query);
    CHECK(world.get(query).status == 400);
  }
  for (const char* path : {"/answers/queue", "/answers/quota"}) {
    for (const char* query : {"", "namespace=", "pod=waits", kWaits, "namespace=..%2Fblue"}) {
      CHECK(world.get(query, "red-user", path).status == 400);
    }
  }
  for (const char* path : {"/answers", "/answers/", "/answers/all", "/answers/queue/"}) {
    CHECK(TenantAnswers::serves(path));
    world.ask(kWaits, "red-user", path);
    CHECK(world.reply().status == 404);
  }
  CHECK_FALSE(TenantAnswers::serves("/answersx"));
  CHECK(world.reviewed.empty());
}

TEST_CASE("a replica that does not decide, or cannot ask who may, says so") {
  World world;
  world.ask(kWaits);
  const Reply standby = world.reply(Unanswered::kNotDeciding);
  CHECK(standby.status == 503);
  CHECK_THAT(*standby.body, Catch::Contains("another one holds the lease"));
  world.leader = "pod-2_1234";
  for (const char* path : {"/answers/queue", "/answers/quota"}) {
    world.ask(kRed, "red-user", path);
    CHECK(*world.reply(Unanswered::kNotDeciding).body ==
          "this replica decides nothing: \"pod-2_1234\" holds the lease; ask that one\n");
  }
  world.ask(kWaits);
  CHECK(world.reply(Unanswered::kTooMany).status == 429);
  world.api_is_away = true;
  CHECK(world.get(kWaits, "both").status == 503);
}

TEST_CASE("what cannot be reviewed is not named") {
  World world;
  world.ask(kWaits, "boss");
  world.api_is_away = true;  // after the first review
  const Reply got = world.reply();
  CHECK(got.status == 200);
  CHECK_THAT(*got.body, !Catch::Contains("secret") && !Catch::Contains("machine-1"));
}

TEST_CASE("each account has a budget, from which refused questions are taken, too") {
  World world;
  for (int i = 0; i < 10; ++i) CHECK(world.get(kWaits).status == 200);
  const Reply over = world.get(kWaits);
  CHECK(over.status == 429);
  CHECK(header(over, "Retry-After") == "2");
  CHECK_THAT(*over.body, Catch::Contains("10 questions at once, then one every 2 s"));
  CHECK(world.get(kWaits, "both").status == 200);
  world.loop.advance(std::chrono::seconds(2));
  CHECK(world.get(kWaits).status == 200);
  CHECK(world.get(kWaits).status == 429);

  for (int i = 0; i < 10; ++i) CHECK(world.get(kWaits, "eve").status == 403);
  const std::size_t reviews = world.reviewed.size();
  CHECK(world.get("namespace=blue&pod=secret", "eve").status == 429);
  CHECK(world.reviewed.size() == reviews);
}

TEST_CASE("rights are remembered for some seconds, and reviewed once each") {
  World world;
  world.body(kWaits);
  world.body(kWaits);
  CHECK(world.reviewed == std::vector<std::string>{"red-user", "get pods in \"red\"", "list nodes",
                                                   "list pods", "get pods in \"blue\""});
  world.rights["red-user"].insert("list nodes");
  CHECK_THAT(world.body(kWaits), !Catch::Contains("machine-1"));
  world.loop.advance(std::chrono::seconds(10));
  CHECK_THAT(world.body(kWaits), Catch::Contains("machine-1"));
}

TEST_CASE("of many namespaces only some are asked about, and the others are not named") {
  World world;
  world.apply(event::NodeUpserted{node("machine-2").gpus(12).product(kH100)});
  for (int i = 10; i < 22; ++i) {
    const std::string namespace_ = "team-" + std::to_string(i);
    world.add(World::ours(namespace_, "one").gpus(1).on("machine-2"));
    world.rights["red-user"].insert("get pods in \"" + namespace_ + "\"");
  }
  world.add(World::ours("red", "large").gpus(12));
  const Json got = Json::parse(world.body("namespace=red&pod=large"));
  CHECK(got["freesWhen"]["podsEnd"].size() == 8);
  CHECK(got["withheld"]["podsThatEnd"] == 4);
}

TEST_CASE("pods that do not wait have an answer as well") {
  World world;
  const Json placed = Json::parse(world.body("namespace=red&pod=runs"));
  CHECK(placed["verdict"] == "Placed");
  CHECK(placed["node"] == "machine-1");  // its own object names it
  CHECK(placed["candidates"].empty());

  world.add(World::ours("red", "other").served_by("default-scheduler"));
  CHECK(Json::parse(world.body("namespace=red&pod=other"))["verdict"] == "NotOurs");
  world.add(World::ours("red", "done").finished());
  CHECK(Json::parse(world.body("namespace=red&pod=done"))["verdict"] == "Finished");
  world.add(World::ours("red", "gated").gpus(1).gated("later"));
  CHECK(Json::parse(world.body("namespace=red&pod=gated"))["verdict"] == "Gated");
}

TEST_CASE(
    "of a placed pod it is said how it was chosen, and the runner-up to those who see nodes") {
  World world;
  world.apply(event::NodeUpserted{node("machine-2").gpus(6).product(kH100)});
  world.apply(event::NodeUpserted{node("machine-3").gpus(4).product(kH100)});
  while (world.engine.step(kNow)) {
  }
  k8s::Pod placed = World::ours("red", "placed").gpus(2);
  world.add(placed);
  decision::Bind bind;
  while (const auto decision = world.engine.step(kNow)) {
    world.notes.decided(*decision);
    if (const auto* made = std::get_if<decision::Bind>(&*decision)) bind = *made;
  }
  REQUIRE(bind.runner_up);
  world.notes.bound(bind, kNow + std::chrono::seconds(4));
  placed.spec.node_name = bind.node;
  world.add(placed);
  constexpr const char* kPlaced = "namespace=red&pod=placed";
  const Json whole = Json::parse(world.body(kPlaced, "operator"));
  CHECK(whole["verdict"] == "Placed");
  const Json& chosen = whole["chosen"];
  CHECK(chosen["decision"] == world.notes.decisions());
  CHECK(chosen["score"] == bind.total_score);
  CHECK(chosen["runnerUp"]["node"] == bind.runner_up->node);
  CHECK(chosen["margin"] == bind.total_score - bind.runner_up->total_score);
  CHECK(chosen["fittingNodes"] == bind.feasible_nodes);
  CHECK(chosen["waitedSeconds"] == 4);
  const std::string plain = world.body(kPlaced);
  CHECK_THAT(plain, !Catch::Contains(bind.runner_up->node));
  const Json told = Json::parse(plain)["chosen"];
  CHECK(told["runnerUp"]["node"] == "");
  CHECK(told["margin"] == chosen["margin"]);
  // What another process decided is not known.
  CHECK_FALSE(Json::parse(world.body("namespace=red&pod=runs")).contains("chosen"));
}

TEST_CASE("every answer says how old the state is that it was computed from, if that is known") {
  World world;
  CHECK_FALSE(Json::parse(world.body(kWaits)).contains("dataAgeSeconds"));
  world.data_age = std::chrono::milliseconds(2'900);
  CHECK(Json::parse(world.body(kWaits))["dataAgeSeconds"] == 2);
  for (const char* path : {"/answers/queue", "/answers/quota"}) {
    CHECK(Json::parse(world.body(kRed, "red-user", path))["dataAgeSeconds"] == 2);
  }
}

TEST_CASE("nothing is computed for a client that has gone") {
  World world;
  world.ask(kWaits);
  REQUIRE(world.put.size() == 1);
  CHECK(world.put[0].is_wanted());
  world.client.reset();
  for (const Question& question : world.put) CHECK_FALSE(question.is_wanted());
}
