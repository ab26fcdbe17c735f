// Answers for tenants over a real engine, before an API server that is the test.
#include "scheduler/live/tenants/tenant_answers.h"

#include "plugins/registry.h"
#include "scheduler/answers/json.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/sentences.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"
#include "tests/support/manual_loop.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::json;
using namespace sched;
using live::Question;
using live::TenantAnswers;
using live::Unanswered;
using server::Reply;
using tests::node;
using tests::pod;

constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
constexpr Time kNow{std::chrono::seconds{1'767'265'200}};

std::string header(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "none";
}

// A node that pods of two namespaces fill, for one of which, and for the pod of a third, a pod
// waits. The user is the token's text; "eve" has no rights.
class World {
 public:
  World() {
    apply(event::NodeUpserted{node("machine-1").gpus(8).product(kH100)});
    add(ours("red", "runs").gpus(5).on("machine-1"));
    add(ours("blue", "secret").gpus(3).on("machine-1"));
    add(ours("red", "waits").gpus(8));
    apply(event::Synced{});
    decide();
  }

  void decide() {
    while (const auto decision = engine.step(kNow)) {
      notes.decided(*decision);
      const auto* refused = std::get_if<decision::Unschedulable>(&*decision);
      if (refused != nullptr) {
        decided[refused->pod.name] = {.reason = refused->reason,
                                      .message = joined(refused->message, refused->details),
                                      .generation = refused->generation};
      }
    }
  }

  static tests::PodBuilder ours(const std::string& namespace_, const std::string& name) {
    return pod(name).in_namespace(namespace_).served_by("gpu-scheduler");
  }
  void apply(Event event) { engine.apply(std::move(event), kNow); }
  void add(const k8s::Pod& added) {
    pods[added.metadata.namespace_ + "/" + added.metadata.name] = added;
    notes.saw(added);
    apply(event::PodUpserted{added});
  }

  void ask(const std::string& query, std::optional<std::string_view> token = "red-user",
           const std::string& path = "/answers/why") {
    replies.emplace_back();
    answers.get({.path = path, .query = query, .bearer_token = token, .client = client},
                [&to = replies.back()](Reply reply) {
                  REQUIRE_FALSE(to);
                  to = std::move(reply);
                });
  }
  // The engine's thread answers all, or refuses them.
  Reply reply(std::optional<Unanswered> why = std::nullopt) {
    for (const Question& question : std::exchange(put, {})) {
      if (why) {
        question.refuse(*why);
      } else if (question.is_wanted()) {
        question.answer(engine);
      }
    }
    loop.run_ready();
    REQUIRE(replies.back());
    return *replies.back();
  }
  Reply get(const std::string& query, std::optional<std::string_view> token = "red-user",
            const std::string& path = "/answers/why") {
    ask(query, token, path);
    return reply();
  }
  std::string body(const std::string& query, std::string_view token = "red-user",
                   const std::string& path = "/answers/why") {
    const Reply got = get(query, token, path);
    INFO(*got.body);
    CHECK(got.status == 200);
    CHECK(got.content_type == "application/json");
    return *got.body;
  }

  tests::ManualLoop loop;
  Engine engine = make_engine();
  live::UiNotes notes;
  std::map<std::string, k8s::Pod> pods;
  std::map<std::string, std::set<std::string>> rights = {
      {"red-user", {"get pods in \"red\"", "list pods in \"red\""}},
      {"blue-user", {"get pods in \"blue\"", "list pods in \"blue\""}},
      {"both",
       {"get pods in \"red\"", "list pods in \"red\"", "get pods in \"blue\"",
        "list pods in \"blue\""}},
      {"operator", {"get pods in \"red\"", "list pods in \"red\"", "list nodes"}},
      {"boss",
       {"get pods in \"red\"", "list pods in \"red\"", "get pods in \"blue\"", "list nodes"}}};
  bool api_is_away = false;
  std::string leader;
  std::optional<std::chrono::nanoseconds> data_age;
  std::shared_ptr<const int> client = std::make_shared<int>();
  std::vector<answers::Why> judged;
  std::map<std::string, answers::Told> decided;  // last, by the pod's name
  std::vector<std::string> reviewed;             // tokens, then rights
  std::vector<std::string> read;                 // pods
  std::deque<Question> put;
  std::deque<std::optional<Reply>> replies;

 private:
  static Engine make_engine() {
    auto config = config::parse("", "default", plugins::registry());
    REQUIRE(config);
    config->engine.names_runner_up = true;
    return Engine(std::move(config->profiles), config->engine);
  }
  static k8s::Error away() { return k8s::make_error(k8s::ErrorKind::kConnect, "nobody there"); }

  server::DelegatedAccess access_{
      loop,
      {.review_token =
           [this](const std::string& token, auto done) {
             reviewed.push_back(token);
             done(k8s::TokenStatus{.authenticated = token != "made-up",
                                   .user = {.username = token}});
           },
       .review_access =
           [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
             reviewed.push_back(k8s::to_string(access));
             if (api_is_away) return done(tl::unexpected(away()));
             done(rights[user.username].contains(reviewed.back()));
           }},
      {},
      {}};
  live::Asker asker_{loop,
                     [this](Question question) { put.push_back(std::move(question)); },
                     {},
                     [this] { return leader; }};

 public:
  TenantAnswers answers{
      loop,
      access_,
      asker_,
      [this](const std::string& namespace_, const std::string& name, const auto& done) {
        read.push_back(namespace_ + "/" + name);
        const auto found = pods.find(read.back());
        if (found != pods.end()) return done(found->second);
        k8s::Error error = k8s::make_error(k8s::ErrorKind::kStatus, "pods: not found");
        error.http_status = 404;
        done(tl::unexpected(std::move(error)));
      },
      {.notes = &notes,
       .names = {"gpu-scheduler"},
       .clock = [] { return kNow; },
       .budget = {},
       .data_age = [this](const auto& done) { done(data_age); },
       .on_judged = [this](const answers::Why& why) { judged.push_back(why); }}};
};

constexpr const char* kWaits = "namespace=red&pod=waits";
constexpr const char* kRed = "namespace=red";

// Besides: two namespaces share a quota that is used up, and a third has one beside it.
class SharedQuota : public World {
 public:
  SharedQuota() {
    apply(event::QuotaUpserted{tests::gpu_quota("department").line("*", 20)});
    apply(event::QuotaUpserted{tests::gpu_quota("shared")
                                   .of("red")
                                   .of("blue")
                                   .in_quota("department")
                                   .line("*", 8)
                                   .limit(8)});
    // Younger, so that "red" stays with the other.
    apply(event::QuotaUpserted{tests::gpu_quota("elsewhere")
                                   .of("green")
                                   .of("red")
                                   .in_quota("department")
                                   .created_at(kNow)
                                   .line("*", 2)});
    add(ours("blue", "urgent").gpus(1).priority(7));
    add(ours("red", "second").gpus(2));
    add(ours("red", "gated").gpus(1).gated("later"));
    decide();
  }
  Json queue(const std::string& query, std::string_view token = "red-user") {
    return Json::parse(body(query, token, "/answers/queue"));
  }
  Json quota(const std::string& query, std::string_view token = "red-user") {
    return Json::parse(body(query, token, "/answers/quota"));
  }
};

}  // namespace

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

TEST_CASE("who may get pods and not list them is not told which there are") {
  SharedQuota world;
  world.rights["eve"] = {"get pods in \"red\""};
  const Reply got = world.get(kRed, "eve", "/answers/queue");
  CHECK(got.status == 403);
  CHECK_THAT(*got.body,
             Catch::Contains("\"eve\" cannot list pods in \"red\"") && !Catch::Contains("waits"));
  CHECK(world.get(kWaits, "eve").status == 200);
  CHECK(world.get(kRed, "eve", "/answers/quota").status == 200);
}

TEST_CASE("a tenant is told which of its pods wait, and their places among those of others") {
  SharedQuota world;
  const std::string text = world.body(kRed, "red-user", "/answers/queue");
  const Json got = Json::parse(text);
  CHECK(got["kind"] == "Queue");
  REQUIRE(got["pods"].size() == 3);
  const Json& first = got["pods"][0];
  CHECK(first["pod"] == Json::parse(R"({"namespace": "red", "name": "waits"})"));
  CHECK(first["position"] == 1);
  CHECK(first["placeInLine"] == 2);  // behind one of another namespace
  CHECK(first["lineLength"] == 3);
  CHECK(first["quota"] == "shared");
  CHECK(first["asks"] == "8 GPU");
  const Json& second = got["pods"][1];  // it came when there was the quota
  CHECK(second["placeInLine"] == 3);
  CHECK(second["blockedBy"] == "quota");
  CHECK_THAT(second["next"].get<std::string>(),
             Catch::Contains("8 of 8 in use") && Catch::Contains("3rd in line"));
  CHECK_THAT(second["message"].get<std::string>(), Catch::StartsWith("quota shared: "));
  CHECK(got["pods"][2]["blockedBy"] == "gates");
  CHECK(got["pods"][2]["placeInLine"] == 0);
  for (const char* name : {"machine-1", "blue", "urgent", "secret"}) {
    CHECK_THAT(text, !Catch::Contains(name));
  }
  CHECK(world.queue("namespace=blue", "blue-user")["pods"][0]["placeInLine"] == 1);
  CHECK(world.queue("namespace=blue", "both")["pods"].size() == 1);
}

TEST_CASE("what pods wait for names no node to those who may not see nodes") {
  World world;  // without quota: its pod waits for nodes
  const std::string plain = world.body(kRed, "red-user", "/answers/queue");
  const Json got = Json::parse(plain)["pods"][0];
  CHECK(got["blockedBy"] == "nodes");
  CHECK(got["next"] == "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8");
  CHECK_THAT(got["message"].get<std::string>(),
             Catch::StartsWith("nvidia.com/gpu: needs 8 on one node"));
  CHECK_THAT(plain, !Catch::Contains("machine-1"));
  // Nothing is full enough for the sentence to name a node: make one of it.
  decision::Unschedulable told;
  told.pod = {"red", "waits", world.pods.at("red/waits").metadata.uid};
  told.message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  told.details = "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8 (machine-1). And more.";
  world.notes.decided(told);
  const Json withheld = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  CHECK(withheld["pods"][0]["message"] ==
        "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8");
  CHECK(withheld["withheld"]["nodes"] == true);
  const Json whole = Json::parse(world.body(kRed, "operator", "/answers/queue"));
  CHECK(whole["pods"][0]["message"] ==
        "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8 (machine-1)");
  CHECK_FALSE(whole.contains("withheld"));
}

TEST_CASE("a tenant is told of its pods whose scheduler's name is misspelt") {
  World world;
  world.add(World::ours("red", "typo").gpus(1).served_by("gpu-schedular"));
  world.add(World::ours("blue", "theirs").gpus(1).served_by("gpu-schedular"));
  const Json got = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  REQUIRE(got["notOurs"].size() == 1);
  CHECK(got["notOurs"][0]["pod"]["name"] == "typo");
  CHECK(got["notOurs"][0]["schedulerName"] == "gpu-schedular");
  CHECK(got["notOurs"][0]["meant"] == "gpu-scheduler");
}

TEST_CASE("of very many pods that wait the others are counted") {
  World world;
  for (int i = 0; i < 1'010; ++i) {
    world.add(World::ours("red", "p" + std::to_string(i))
                  .gpus(9)
                  .created_at(kNow + std::chrono::seconds(1)));
  }
  const Json got = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  CHECK(got["pods"].size() == 1'000);
  CHECK(got["leftOut"] == 11);
  CHECK(got["pods"][0]["pod"]["name"] == "waits");
  CHECK(got["pods"][1]["next"] == "its turn comes");
}

TEST_CASE("a tenant is told which quotas count its namespace, and who is first in line if it may") {
  SharedQuota world;
  const std::string text = world.body(kRed, "red-user", "/answers/quota");
  const Json got = Json::parse(text);
  CHECK(got["kind"] == "Quotas");
  CHECK(got["namespace"] == "red");
  REQUIRE(got["quotas"].size() == 2);
  CHECK(got["quotas"][0]["name"] == "shared");
  CHECK(got["quotas"][0]["parent"] == "department");
  CHECK(got["quotas"][0]["lines"][0] ==
        Json::parse(R"({"gpuType": "*", "use": {"guaranteed": "8", "used": "8", "borrowed": "0",
                                                "lent": "0", "pending": "11"}})"));
  CHECK(got["quotas"][1]["name"] == "department");
  CHECK(got["line"]["pods"] == 3);
  CHECK(got["line"]["head"].is_null());
  CHECK(got["line"]["firstOfNamespace"] == 2);
  CHECK(got["withheld"] == true);
  for (const char* name : {"blue", "urgent", "green", "elsewhere"}) {
    CHECK_THAT(text, !Catch::Contains(name));
  }
  const Json both = world.quota(kRed, "both");
  CHECK(both["line"]["head"] == Json::parse(R"({"namespace": "blue", "name": "urgent"})"));
  CHECK_FALSE(both.contains("withheld"));
  // Its own pod is the first, and its quota's wish for another's namespace is told without that.
  world.rights["green-user"] = {"get pods in \"green\""};
  const std::string green = world.body("namespace=green", "green-user", "/answers/quota");
  CHECK_THAT(green, Catch::Contains("some namespaces that it selects belong to other quotas") &&
                        !Catch::Contains("red"));
  CHECK(world.quota("namespace=blue", "blue-user")["line"]["head"]["name"] == "urgent");
  // Where nothing counts them, there is no quota, and no reason is given.
  world.rights["eve"] = {"get pods in \"free\""};
  const Json none = world.quota("namespace=free", "eve");
  CHECK(none["quotas"].empty());
  CHECK(none["without"] == "");
  CHECK(none["line"]["pods"] == 0);
}

TEST_CASE(
    "queue and quota are for those who may get the pods of the namespace, within the budget") {
  SharedQuota world;
  for (const char* path : {"/answers/queue", "/answers/quota"}) {
    const std::size_t put = world.put.size();
    const Reply there = world.get("namespace=blue", "red-user", path);
    const Reply nothing = world.get("namespace=nothing", "red-user", path);
    CHECK(there.status == 403);
    CHECK(nothing.status == 403);
    CHECK(world.get(kRed, std::nullopt, path).status == 401);
    CHECK(world.put.size() == put);
  }
  for (int i = 4; i < 10; ++i) CHECK(world.get(kRed, "red-user", "/answers/queue").status == 200);
  CHECK(world.get(kRed, "red-user", "/answers/quota").status == 429);
  world.ask(kRed, "both", "/answers/quota");
  CHECK(world.reply(Unanswered::kNotDeciding).status == 503);
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
  world.client.reset();
  for (const Question& question : world.put) CHECK_FALSE(question.is_wanted());
}
