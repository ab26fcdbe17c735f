// The page's answers over a real engine, before an API server that is the test.
#include "scheduler/live/ui/page.h"

#include "scheduler/answers/json.h"
#include "tests/scheduler/live/ui/page_world.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sched;
using namespace tests;

std::string header(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "none";
}

}  // namespace

TEST_CASE("the page is for those who may get /ui, whatever part of it they ask for") {
  PageWorld world;
  for (const char* path : {"/ui", "/ui/", "/ui/app.js", "/ui/state", "/ui/why", "/ui/what-if"}) {
    world.ask(path, "", std::nullopt);
    CHECK(world.reply().status == 401);
    world.ask(path, "", "eve");
    CHECK(world.reply().status == 403);
  }
  CHECK(world.put.empty());
  CHECK(world.reviewed == std::vector<std::string>{"eve: get \"/ui\""});
  CHECK(UiPage::serves("/ui"));
  CHECK(UiPage::serves("/ui/state"));
  CHECK_FALSE(UiPage::serves("/uix"));
  CHECK_FALSE(UiPage::serves("/u"));
}

TEST_CASE("the parts of the page are served with what keeps a browser to them") {
  PageWorld world;
  for (const auto& [path, type] :
       {std::pair("/ui/", "text/html"), std::pair("/ui/app.js", "text/javascript"),
        std::pair("/ui/style.css", "text/css"), std::pair("/ui/base.css", "text/css"),
        std::pair("/ui/chart.js", "text/javascript"),
        std::pair("/ui/vendor/uplot.js", "text/javascript")}) {
    const Reply got = world.get(path);
    CHECK(got.status == 200);
    CHECK_THAT(got.content_type, Catch::StartsWith(type));
    CHECK_THAT(header(got, "Content-Security-Policy"), Catch::StartsWith("default-src 'self';"));
    CHECK_THAT(header(got, "Content-Security-Policy"), Catch::Contains("frame-ancestors 'none'"));
    CHECK(header(got, "X-Content-Type-Options") == "nosniff");
  }
  CHECK(world.get("/ui/nothing").status == 404);
  const Reply redirect = world.get("/ui");
  CHECK(redirect.status == 308);
  CHECK(header(redirect, "Location") == "ui/");
}

TEST_CASE("the document has the overview and quotas of kubectl gpu, and what waits for what") {
  PageWorld world;
  world.apply(event::QuotaUpserted{tests::gpu_quota("q").of("ml").line("H100", 8)});
  const Json got = world.json("/ui/state");
  CHECK(got["overview"] ==
        Json::parse(answers::to_json(answers::overview_of(
            world.engine.gpu_nodes(), world.engine.in_line(), world.engine.quota_statuses()))));
  CHECK(got["quotas"] == Json::parse(answers::to_json(world.engine.quota_statuses())));
  CHECK(got["overview"]["gpus"] ==
        Json::parse(R"({"total": 24, "used": 8, "held": 0, "free": 8})"));
  CHECK(got["states"] == Json::parse(R"([{"type": "H100", "form": "", "used": 8, "free": 8,
                                          "closed": {"cordoned": 8}}])"));
  REQUIRE(got["nodes"].size() == 3);
  CHECK(got["nodes"][2] ==
        Json::parse(R"({"node": "shut", "type": "H100-80GB", "closed": "cordoned", "pods": 0,
                        "pieces": [{"form": "", "total": 8, "used": 0, "held": 0}]})"));
  REQUIRE(got["queue"].size() == 2);
  const Json& waits = got["queue"][0]["name"] == "waits" ? got["queue"][0] : got["queue"][1];
  const Json& gated = got["queue"][0]["name"] == "gated" ? got["queue"][0] : got["queue"][1];
  CHECK(waits["blockedBy"] == "nodes");
  CHECK_THAT(waits["why"].get<std::string>(),
             Catch::StartsWith("nvidia.com/gpu: needs 9 on one node"));
  CHECK(gated["blockedBy"] == "gates");
  CHECK(got["asOf"] == "2026-01-01T11:00:00Z");
  CHECK(got["dataAgeSeconds"].is_null());
  CHECK(got["decision"] == 2);
  CHECK(got["replica"] == "host");
  CHECK(got["history"]["gpusUsed"] == Json::parse("[8]"));
  CHECK_FALSE(got["history"].contains("replicasUsed"));
  CHECK(got["leftOut"]["pods"] == 0);
  CHECK(got["misnamed"] ==
        Json::parse(R"([{"namespace": "ml", "name": "typo", "schedulerName": "gpu-schedular",
                         "meant": "gpu-scheduler"}])"));
}

TEST_CASE("the document says how old what the scheduler knows is, however new the document is") {
  PageWorld world;
  world.data_age = std::chrono::milliseconds(150'900);
  const Json got = world.json("/ui/state");
  CHECK(got["dataAgeSeconds"] == 150);
  CHECK(got["asOf"] == "2026-01-01T11:00:00Z");
}

TEST_CASE("the document is made once a second at most, however many look") {
  PageWorld world;
  for (int i = 0; i < 5; ++i) world.ask("/ui/state", "", i % 2 == 0 ? "ada" : "bob");
  CHECK(world.put.size() == 1);
  world.answer();
  for (const auto& reply : world.replies) {
    REQUIRE(reply);
    CHECK(reply->body == world.replies.front()->body);
  }
  world.loop.advance(std::chrono::milliseconds(999));
  world.ask("/ui/state");
  CHECK(world.put.empty());
  CHECK(world.replies.back()->body == world.replies.front()->body);
  world.loop.advance(std::chrono::milliseconds(1));
  world.ask("/ui/state");
  CHECK(world.put.size() == 1);
  CHECK(world.reply().body != world.replies.front()->body);
}

TEST_CASE(
    "the document of a large cluster is made so rarely that it takes a hundredth of the time") {
  PageWorld world;
  world.each_look = std::chrono::milliseconds(25);
  const Reply first = world.get("/ui/state");
  world.loop.advance(std::chrono::milliseconds(2499));
  CHECK(world.get("/ui/state").body == first.body);
  world.loop.advance(std::chrono::milliseconds(1));
  world.each_look = std::chrono::milliseconds(1);
  const Reply second = world.get("/ui/state");
  CHECK(second.body != first.body);
  world.loop.advance(std::chrono::seconds(1));
  CHECK(world.get("/ui/state").body != second.body);
}

TEST_CASE("a document that the engine did not answer is an error to all who wait for it") {
  PageWorld world;
  world.ask("/ui/state");
  world.ask("/ui/state");
  CHECK(world.reply(Unanswered::kNotDeciding).status == 503);
  CHECK(world.replies.front()->status == 503);
  CHECK(world.get("/ui/state").status == 200);
  for (const auto& [path, query] :
       {std::pair("/ui/why", "namespace=ml&pod=waits"), std::pair("/ui/node", "node=full"),
        std::pair("/ui/what-if", "gpus=1")}) {
    world.ask(path, query);
    CHECK(world.reply(Unanswered::kTooLate).status == 503);
  }
}

TEST_CASE("a sample is taken each minute, whether or not somebody looks") {
  PageWorld world;
  world.loop.run_ready();
  for (int i = 0; i < 3; ++i) {
    world.now += live::History::kInterval;
    world.loop.advance(live::History::kInterval);
    CHECK(world.put.size() == 1);
    world.answer(i == 1 ? std::optional(Unanswered::kTooLate) : std::nullopt);
  }
  const Json history = world.json("/ui/state")["history"];
  CHECK(history["at"] == Json::parse("[1767265260, 1767265380]"));
  CHECK(history["waitingGpus"] == Json::parse("[11, 11]"));
}

TEST_CASE("a bound pod is shown with its runner-up") {
  PageWorld world;
  world.apply(event::NodeUpserted{node("third").gpus(8).product(kH100)});
  const k8s::Pod one = PageWorld::ours("one").gpus(1);
  world.apply(event::PodUpserted{one});
  std::optional<decision::Bind> bind;
  while (auto decision = world.engine.step(world.now)) {
    world.notes.decided(*decision);
    if (const auto* its = std::get_if<decision::Bind>(&*decision)) bind = *its;
  }
  REQUIRE(bind);
  world.notes.bound(*bind, world.now + std::chrono::seconds(2));
  const Json bound = world.json("/ui/state")["bound"];
  REQUIRE(bound.size() == 1);
  CHECK(bound[0]["node"] == bind->node);
  CHECK(bound[0]["score"] == bind->total_score);
  REQUIRE(bind->runner_up);
  CHECK(bound[0]["runnerUp"] ==
        Json({{"node", bind->runner_up->node}, {"score", bind->runner_up->total_score}}));
  CHECK(bound[0]["waitedSeconds"] == 2);
  CHECK(bound[0]["feasibleNodes"] == 2);
}

TEST_CASE("why a pod waits is judged now, with what would make room") {
  PageWorld world;
  const k8s::Pod five = PageWorld::ours("five").gpus(8);
  world.apply(event::PodUpserted{PageWorld::ours("half").gpus(4).on("open")});
  world.apply(event::PodUpserted{five});
  const Json got = world.json("/ui/why", "namespace=ml&pod=five");
  CHECK(got["kind"] == "Why");
  CHECK(got["verdict"] == "Waits");
  CHECK(got["allNodes"] == 3);
  CHECK(got["fittingNodes"] == 0);
  CHECK(got["freesWhen"]["node"] == "open");
  CHECK(got["reasons"].size() == 2);
  CHECK(got["wouldRunIfChanged"].empty());
  CHECK(world.told.empty());  // it is still to be decided on
  while (auto decision = world.engine.step(world.now)) world.notes.decided(*decision);
  world.ask("/ui/why", "namespace=ml&pod=five");
  for (const Question& asked : std::exchange(world.put, {})) asked.answer(world.engine);
  // Before the loop runs: the engine may decide at once.
  REQUIRE(world.told.size() == 1);
  CHECK_THAT(world.told[0], Catch::StartsWith("five: 0/3 nodes are available: "));
  CHECK(world.json("/ui/why", "namespace=ml&pod=gated")["verdict"] == "Gated");
  CHECK(world.get("/ui/why", "namespace=ml&pod=runs").status == 404);
  const Reply typo = world.get("/ui/why", "namespace=ml&pod=typo");
  CHECK(typo.status == 404);
  CHECK(*typo.body ==
        "ml/typo waits for a scheduler \"gpu-schedular\", which this one is not; is "
        "\"gpu-scheduler\" meant?\n");
  CHECK(world.get("/ui/why", "pod=five").status == 400);
  CHECK(world.get("/ui/why", "namespace=ml&pod=five&x=y").status == 400);
}

TEST_CASE("whose the GPUs of a node are") {
  PageWorld world;
  const Json full = world.json("/ui/node", "node=full");
  REQUIRE(full["nodes"].size() == 1);
  CHECK(full["nodes"][0]["pods"] == Json::parse(R"([{"pod": "ml/runs", "gpus": 8}])"));
  CHECK(world.json("/ui/node", "node=open")["nodes"][0]["pods"].empty());
  CHECK(*world.get("/ui/node", "node=none").body == "no node \"none\" has GPUs\n");
  CHECK(world.get("/ui/node", "node=none").status == 404);
  CHECK(world.get("/ui/node", "").status == 400);
  CHECK(world.get("/ui/node", "node=full&pod=x").status == 400);
}

TEST_CASE(
    "an answer says whether a pod waits for nodes, for its group, for quota, or for none of "
    "these") {
  PageWorld world;
  const auto waits_for = [](const Json& why) {
    std::string kinds;
    for (const char* kind : {"Nodes", "Pods", "Quota"}) {
      if (why["waitsFor" + std::string(kind)]) kinds += kind;
    }
    return kinds;
  };
  world.apply(event::PodUpserted{PageWorld::ours("first")
                                     .gpus(1)
                                     .annotated("gpu-scheduler.io/pod-group", "train")
                                     .annotated("gpu-scheduler.io/pod-group-min-count", "4")});
  while (auto decision = world.engine.step(world.now)) world.notes.decided(*decision);
  const Json group = world.json("/ui/why", "namespace=ml&pod=first");
  CHECK_THAT(group["headline"].get<std::string>(), Catch::StartsWith("1 of the 4 pods"));
  CHECK(waits_for(group) == "Pods");
  CHECK(waits_for(world.json("/ui/why", "namespace=ml&pod=waits")) == "Nodes");
  const Json claim = world.json("/ui/what-if",
                                "namespace=ml&manifest={kind: Pod, spec: {schedulerName: "
                                "gpu-scheduler, containers: [], volumes: "
                                "[{name: v, "
                                "persistentVolumeClaim: {claimName: nope}}]}}")["why"];
  CHECK(claim["headline"] == "persistentvolumeclaim \"nope\" not found");
  CHECK(waits_for(claim).empty());
  world.apply(event::QuotaUpserted{tests::gpu_quota("q").of("ml").line("H100", 8)});
  CHECK(waits_for(world.json("/ui/what-if", "namespace=ml&gpus=1")["why"]) == "Quota");
}

TEST_CASE("a pod that is beyond its quota is told so, and no room on nodes") {
  PageWorld world;
  world.apply(event::QuotaUpserted{tests::gpu_quota("q").of("ml").line("H100", 8)});
  const Json why = world.json("/ui/what-if", "namespace=ml&gpus=1")["why"];
  CHECK(why["verdict"] == "Waits");
  CHECK_THAT(why["headline"].get<std::string>(), Catch::StartsWith("quota q: H100 needs 1"));
  CHECK(why["freesWhen"]["node"] == "");
}

TEST_CASE(
    "an account has a budget for the page, and a smaller one for what it asks of the engine") {
  PageWorld world;
  const char* const kAsked = "namespace=ml&pod=waits";
  for (int i = 0; i < 15; ++i) {
    CHECK(world.get("/ui/why", kAsked).status == 200);
    CHECK(world.get("/ui/what-if", "namespace=ml&gpus=1").status == 200);
  }
  const Reply over = world.get("/ui/why", kAsked);
  CHECK(over.status == 429);
  CHECK(header(over, "Retry-After") == "1");
  CHECK(world.get("/ui/state").status == 200);  // the page goes on
  world.ask("/ui/why", kAsked, "bob");
  CHECK(world.reply().status == 200);
  // A page that is opened, and then read every three seconds, in two browsers.
  for (int i = 0; i < 100; ++i) {
    world.loop.advance(std::chrono::seconds(3));
    for (int browser = 0; browser < 2; ++browser) CHECK(world.get("/ui/state").status == 200);
  }
  int served = 0;
  while (served < 1'000 && world.get("/ui/app.js").status == 200) ++served;
  CHECK(served == 198);
  CHECK(world.get("/ui/state").status == 429);
  world.loop.advance(std::chrono::milliseconds(200));
  CHECK(world.get("/ui/state").status == 200);
}

TEST_CASE("what if: where a pod would go that is not there, and nothing changes by it") {
  PageWorld world;
  const Json fits = world.json("/ui/what-if", "gpus=2&type=H100");
  CHECK(fits["why"]["verdict"] == "Starts");
  CHECK(fits["why"]["node"] == "open");
  CHECK(fits["notes"].empty());
  const Json manifest =
      world.json("/ui/what-if", "manifest=%7Bkind%3A+Pod%2C+spec%3A+%7Bcontainers%3A+%5B%5D%7D%7D");
  CHECK(manifest["notes"].size() == 1);
  CHECK(world.json("/ui/what-if", "gpus=9")["why"]["verdict"] == "Waits");
  CHECK(world.get("/ui/what-if", "gpus=x").status == 400);
  CHECK(world.engine.in_line().size() == 2);
  CHECK_FALSE(world.engine.step(world.now));
}

TEST_CASE("twenty thousand pods that wait make a page of some hundred kilobytes") {
  PageWorld world;
  for (int i = 0; i < 25; ++i) {
    world.apply(event::PodUpserted{
        PageWorld::ours("typo-" + std::to_string(i)).served_by("gpu-scheduler2").gpus(1)});
  }
  for (int i = 0; i < 20'000; ++i) {
    world.apply(event::PodUpserted{PageWorld::ours("many-" + std::to_string(i)).gpus(9)});
  }
  while (auto decision = world.engine.step(world.now)) world.notes.decided(*decision);
  const Reply got = world.get("/ui/state");
  CHECK(got.body->size() < 200'000);
  const Json state = Json::parse(*got.body);
  CHECK(state["queue"].size() == 200);
  CHECK(state["leftOut"]["pods"] == 20'002 - 200);
  CHECK(state["overview"]["waiting"]["pods"] == 20'002);
  CHECK(state["misnamed"].size() == 20);
  CHECK(state["leftOut"]["misnamed"] == 6);
  // One that is not shown can be asked about.
  CHECK(world.json("/ui/why", "namespace=ml&pod=many-19999")["verdict"] == "Waits");
}

TEST_CASE("pods of one second are listed as they stand in the line of their quota") {
  live::ClusterSeen seen;
  for (const std::size_t place : {2U, 0U, 1U, 3U}) {
    PodInLine& pod = seen.line.emplace_back();
    pod.pod = {"ml", std::to_string(place), "u"};
    pod.place_in_line = place;
  }
  seen.line.back().priority = 7;
  const Json got = Json::parse(live::to_json(std::move(seen), {}, live::UiNotes{}, {}));
  std::vector<std::string> names;
  for (const Json& row : got["queue"]) names.push_back(row["name"]);
  CHECK(names == std::vector<std::string>{"3", "1", "2", "0"});
}

TEST_CASE("texts of the cluster are cut at characters, and never break the document") {
  live::ClusterSeen seen;
  PodInLine& pod = seen.line.emplace_back();
  pod.pod = {"ml", "p\"</script>\xff", "u"};
  while (pod.never.size() < 1000) pod.never += "é";
  const Json got = Json::parse(live::to_json(std::move(seen), {}, live::UiNotes{}, {}));
  const std::string why = got["queue"][0]["why"];
  CHECK(why.size() < 420);
  CHECK(why.ends_with("é…"));

  live::ClusterSeen of_nodes;
  for (const std::size_t size : {400U, 401U}) {
    of_nodes.nodes.emplace_back().closed = std::string(size, 'x');
  }
  const Json nodes =
      Json::parse(live::to_json(std::move(of_nodes), {}, live::UiNotes{}, {}))["nodes"];
  CHECK(nodes[0]["closed"] == std::string(400, 'x'));
  CHECK(nodes[1]["closed"] == std::string(400, 'x') + "…");
  CHECK(got["queue"][0]["name"] == "p\"</script>\xef\xbf\xbd");
}

TEST_CASE("what the document shows is cut to its limits, and what is cut is counted") {
  live::ClusterSeen seen;
  for (const char* type : {"L4", "H100", "A10"}) {
    GpuNode& shut = seen.nodes.emplace_back();
    shut.type = type;
    shut.closed = "cordoned";
    shut.pieces.resize(3);  // the last are none, and used by none
    shut.pieces[0].total = 8;
    shut.pieces[1].used = 2;
    seen.quotas.push_back({.name = type, .uid = type, .status = {}});
    seen.misnamed.push_back({.pod = {"ml", type, type}, .scheduler_name = "x", .meant = "y"});
    seen.line.emplace_back().pod = {"ml", type, type};
  }
  seen.totals.forms.emplace_back().held = 3;
  const live::UiLimits limits{.nodes = 2, .closed_nodes = 1, .pods = 1, .misnamed = 1, .quotas = 2};
  const Json got = Json::parse(live::to_json(std::move(seen), {}, live::UiNotes{}, {}, limits));
  CHECK(got["leftOut"] == Json::parse(R"({"nodes": 1, "closedNodes": 2, "pods": 2, "misnamed": 2,
                                          "quotas": 1})"));
  REQUIRE(got["nodes"].size() == 2);
  CHECK(got["nodes"][0]["type"] == "A10");
  CHECK(got["nodes"][1]["type"] == "H100");
  CHECK(got["nodes"][0]["pieces"].size() == 2);
  CHECK(got["quotas"]["quotas"].size() == 2);
  CHECK(got["states"][0]["closed"] == Json::parse(R"({"held": 3})"));
}

TEST_CASE("why each pod waits is said in the document") {
  using Place = PodInLine::Place;
  live::ClusterSeen seen;
  for (const auto& [name, place] :
       {std::pair("active", Place::kActive), std::pair("backoff", Place::kBackoff),
        std::pair("gated", Place::kGated), std::pair("never", Place::kGated)}) {
    PodInLine& pod = seen.line.emplace_back();
    pod.pod = {"ml", name, name};
    pod.place = place;
  }
  seen.line.back().never = "asks for 99";
  const Json got = Json::parse(live::to_json(std::move(seen), {}, live::UiNotes{}, {}));
  std::vector<std::string> texts;
  for (const Json& row : got["queue"]) {
    texts.push_back(row["name"].get<std::string>() + ": " + row["blockedBy"].get<std::string>() +
                    ": " + row["why"].get<std::string>());
  }
  CHECK(texts == std::vector<std::string>{
                     "active: : waits for its turn", "backoff: : is tried again after a back-off",
                     "gated: gates: has scheduling gates, and waits until they are removed",
                     "never: itself: can never start as it is written: asks for 99"});
}

TEST_CASE("the history has a column for each number, of the kinds that the cluster has had") {
  live::History history;
  answers::Overview overview;
  overview.waiting.pods = 1;
  overview.waiting.gpus = 2;
  history.add(overview, kNow);
  overview.instances = {.total = 3, .used = 4, .free = 5};
  overview.replicas = {.total = 6, .used = 7, .free = 8};
  history.add(overview, kNow + live::History::kInterval);
  const Json got = Json::parse(live::to_json({}, {}, live::UiNotes{}, history))["history"];
  CHECK(got == Json::parse(R"({"intervalSeconds": 60, "at": [1767265200, 1767265260],
                               "instancesTotal": [0, 3], "instancesUsed": [0, 4],
                               "instancesFree": [0, 5], "replicasTotal": [0, 6],
                               "replicasUsed": [0, 7], "replicasFree": [0, 8],
                               "waitingPods": [1, 1], "waitingGpus": [2, 2]})"));
}
