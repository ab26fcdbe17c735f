// The two pages over a real engine, before an API server that is the test.
#include "scheduler/live/questions/pod_questions.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/scheduler/live/questions/asking.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::json;
using sched::live::Asker;
using sched::live::PodQuestions;
using sched::live::Question;
using sched::live::Unanswered;
using sched::server::Reply;
using tests::pod;

sched::Engine engine_with_nodes() {
  auto config = sched::config::parse("", "default", plugins::registry());
  REQUIRE(config);
  sched::Engine engine(std::move(config->profiles), config->engine);
  for (const char* name : {"n1", "n2", "n3"}) {
    engine.apply(sched::event::NodeUpserted{tests::node(name).gpus(2)}, sched::Time{});
  }
  engine.apply(sched::event::Synced{}, sched::Time{});
  return engine;
}

tests::PodBuilder ours(const char* name) {
  return pod(name).in_namespace("ml").served_by("gpu-scheduler");
}

// Whoever has the token "TOKEN" is the user of that name; "ada" and "boss" may do everything, "eve"
// may get the pages, and "bob" pods.
class PodQuestionsWorld : public tests::Asking {
 public:
  // The answer as far as there is one; the engine's thread answers when the test says so.
  void ask(const std::string& page, const std::string& query,
           std::optional<std::string_view> token = "ada") {
    questions.get({.path = page, .query = query, .bearer_token = token, .client = client},
                  next_reply());
  }
  Reply reply(std::optional<Unanswered> why = std::nullopt) { return reply_by(engine, why); }
  Json json(const std::string& page, const std::string& query) {
    ask(page, query);
    const Reply got = reply();
    CHECK(got.status == 200);
    CHECK(got.content_type == "application/json");
    return Json::parse(*got.body);
  }

  sched::Engine engine = engine_with_nodes();
  std::map<std::string, k8s::Pod> pods = {
      {"ml/fits", ours("fits").gpus(1)},
      {"ml/large", ours("large").gpus(3)},
      {"ml/bound", ours("bound").gpus(1).on("n2")},
      {"ml/other", ours("other").served_by("default-scheduler")},
      {"ml/done", ours("done").on("n1").finished()}};
  std::optional<k8s::Error> api_error;
  std::string leader;
  std::vector<std::string> reviewed;

 private:
  sched::server::DelegatedAccess access_{
      loop,
      {.review_token =
           [](const std::string& token, auto done) {
             done(k8s::TokenStatus{.authenticated = true, .user = {.username = token}});
           },
       .review_access =
           [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
             reviewed.push_back(k8s::to_string(access));
             const bool is_path = std::holds_alternative<k8s::NonResourceAccess>(access);
             done(user.username == "ada" || user.username == "boss" ||
                  user.username == (is_path ? "eve" : "bob"));
           }},
      {},
      {}};
  Asker asker_{loop,
               [this](Question question) { put.push_back(std::move(question)); },
               {.open = 3, .open_of_account = 2},
               [this] { return leader; }};

 public:
  PodQuestions questions{loop,
                         access_,
                         asker_,
                         [this](const std::string& namespace_, const std::string& name, auto done) {
                           const auto found = pods.find(namespace_ + '/' + name);
                           if (api_error) return done(tl::unexpected(*api_error));
                           if (found == pods.end()) {
                             k8s::Error error = k8s::make_error(k8s::ErrorKind::kStatus,
                                                                "404 Not Found: no such pod");
                             error.http_status = 404;
                             return done(tl::unexpected(std::move(error)));
                           }
                           done(found->second);
                         },
                         {"gpu-scheduler"}};
};

}  // namespace

TEST_CASE("why a pod waits, node by node") {
  PodQuestionsWorld world;
  const Json got = world.json("/explain", "namespace=ml&pod=large");
  CHECK(got["pod"] == "large");
  CHECK(got["message"] == "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
  REQUIRE(got["nodes"].size() == 3);
  CHECK(got["nodes"][0]["node"] == "n1");
  CHECK(got["nodes"][0]["reasons"] == Json{"Insufficient nvidia.com/gpu"});
  CHECK(got["nodesLeftOut"] == 0);
  const Json one = world.json("/explain", "namespace=ml&pod=large&limit=1");
  CHECK(one["nodes"].size() == 1);
  CHECK(one["nodesLeftOut"] == 2);
}

TEST_CASE("where a pod could go, the best first") {
  PodQuestionsWorld world;
  const auto nodes_of = [](const Json& got) {
    std::vector<std::string> names;
    for (const Json& candidate : got["candidates"]) names.push_back(candidate["node"]);
    return names;
  };
  world.engine.apply(sched::event::PodUpserted{world.pods.at("ml/bound")}, sched::Time{});
  // The node that is begun is the best: it packs. Its own pod counts for nothing.
  CHECK(nodes_of(world.json("/candidates", "pod=fits&namespace=ml")) ==
        std::vector<std::string>{"n2", "n1", "n3"});
  const Json bound = world.json("/candidates", "namespace=ml&pod=bound&limit=2");
  CHECK(bound["node"] == "n2");
  CHECK(nodes_of(bound) == std::vector<std::string>{"n1", "n2"});
  const Json explained = world.json("/explain", "namespace=ml&pod=bound");
  CHECK(explained["message"] == "");
  CHECK(explained["nodes"].size() == 3);
  for (const Json& node : explained["nodes"]) CHECK(node["code"] == "Success");
}

TEST_CASE("who asks must be allowed the page and the pod") {
  PodQuestionsWorld world;
  world.ask("/explain", "namespace=ml&pod=fits", std::nullopt);
  CHECK(world.reply().status == 401);
  world.ask("/explain", "namespace=ml&pod=fits", "bob");
  CHECK(*world.reply().body ==
        "\"bob\" cannot get \"/explain\": a ClusterRole with that nonResourceURL would let it\n");
  world.ask("/candidates", "namespace=ml&pod=fits", "eve");
  CHECK(*world.reply().body ==
        "\"eve\" cannot get pods \"ml/fits\": a Role with that right would let it\n");
  // Nor is told whether it exists.
  world.ask("/candidates", "namespace=ml&pod=unheard-of", "eve");
  CHECK(world.reply().status == 403);
  CHECK(world.reviewed == std::vector<std::string>{"get \"/explain\"", "get \"/candidates\"",
                                                   "get pods \"ml/fits\"", "get \"/candidates\"",
                                                   "get pods \"ml/unheard-of\""});
}

TEST_CASE("what is asked wrongly is refused in words, before anybody is asked") {
  struct Case {
    std::string query;
    std::string want;
  };
  const std::string kLong(254, 'a');
  for (const Case& c : std::vector<Case>{
           {"", "the parameter \"namespace\" is missing\n"},
           {"namespace=ml", "the parameter \"pod\" is missing\n"},
           {"pod=fits", "the parameter \"namespace\" is missing\n"},
           {"namespace=&pod=fits", "namespace \"\": that is no name\n"},
           {"namespace=ml&pod=..", "pod \"..\": that is no name\n"},
           {"namespace=ml&pod=a%2Fb", "pod \"a/b\": that is no name\n"},
           {"namespace=ml&pod=a-", "pod \"a-\": that is no name\n"},
           {"namespace=ml&pod=A", "pod \"A\": that is no name\n"},
           {"namespace=ml&pod=" + kLong,
            "pod \"" + std::string(128, 'a') + "…\": that is no name\n"},
           {"namespace=ml&pod=a&pod=b", "\"pod\" stands there more than once\n"},
           {"namespace=ml&pod=%4", "\"pod=%4\": behind a % there must be two hexadecimal digits\n"},
           {"namespace=ml&pod=fits&limit=0", "limit \"0\": it must be a number from 1 to 10000\n"},
           {"namespace=ml&pod=fits&limit=10001",
            "limit \"10001\": it must be a number from 1 to 10000\n"},
           {"namespace=ml&pod=fits&limit=1e3",
            "limit \"1e3\": it must be a number from 1 to 10000\n"},
           {"namespace=ml&pod=fits&limit=-1",
            "limit \"-1\": it must be a number from 1 to 10000\n"},
           {"namespace=ml&pod=fits&node=n1",
            "there is no parameter \"node\"; there are namespace, pod and limit\n"}}) {
    PodQuestionsWorld world;
    world.ask("/explain", c.query);
    const Reply got = world.reply();
    CHECK(got.status == 400);
    CHECK(*got.body == c.want);
    CHECK(world.reviewed.empty());
  }
}

TEST_CASE("pods that this scheduler knows nothing of") {
  struct Case {
    std::string pod;
    std::string want;
  };
  for (const Case& c : std::vector<Case>{
           {"unheard-of", "404 Not Found: no such pod\n"},
           {"0-9.9", "404 Not Found: no such pod\n"},
           {"other",
            "pods \"ml/other\": its schedulerName is \"default-scheduler\", which is not served "
            "here\n"},
           {"done", "pods \"ml/done\": it has finished\n"}}) {
    PodQuestionsWorld world;
    world.ask("/explain", "namespace=ml&pod=" + c.pod);
    CHECK(world.put.empty());
    const Reply got = world.reply();
    CHECK(got.status == 404);
    CHECK(*got.body == c.want);
  }
}

TEST_CASE("questions that cannot be answered now") {
  struct Case {
    Unanswered why;
    int want;
    std::string body;
  };
  for (const Case& c : std::vector<Case>{
           {Unanswered::kNotDeciding, 503,
            "this replica decides nothing: it does not know the cluster yet, or another one holds "
            "the lease; ask that one\n"},
           {Unanswered::kTooLate, 503,
            "the engine did not come to it in time: a tenth of its time is for questions; ask "
            "again in a moment\n"},
           {Unanswered::kEnded, 503, "the process is shutting down\n"}}) {
    PodQuestionsWorld world;
    world.ask("/candidates", "namespace=ml&pod=fits");
    const Reply got = world.reply(c.why);
    CHECK(got.status == c.want);
    CHECK(*got.body == c.body);
  }
  PodQuestionsWorld world;
  for (int i = 0; i < 3; ++i) world.ask("/explain", "namespace=ml&pod=fits");
  REQUIRE(world.replies.back());
  CHECK(world.replies.back()->status == 429);
  CHECK(*world.replies.back()->body ==
        "as many questions as may be are open already; ask again in a moment\n");
  // Of that account; another one may ask.
  world.ask("/explain", "namespace=ml&pod=fits", "boss");
  CHECK_FALSE(world.replies.back());

  PodQuestionsWorld away;
  away.api_error = k8s::make_error(k8s::ErrorKind::kConnect, "nobody there");
  away.ask("/explain", "namespace=ml&pod=fits");
  CHECK(away.reply().status == 503);
  CHECK(*away.reply().body == "nobody there\n");
}

TEST_CASE("a replica that does not decide names the one that does") {
  PodQuestionsWorld world;
  world.leader = "pod-2_1234";
  world.ask("/explain", "namespace=ml&pod=large");
  const Reply got = world.reply(Unanswered::kNotDeciding);
  CHECK(got.status == 503);
  CHECK(*got.body ==
        "this replica decides nothing: \"pod-2_1234\" holds the lease; ask that one\n");
}

TEST_CASE("each account has a budget for both pages, from which refused questions are taken, too") {
  PodQuestionsWorld world;
  const auto status = [&](const char* page, const char* user) {
    world.ask(page, "namespace=ml&pod=large", user);
    return world.reply().status;
  };
  for (int i = 0; i < 15; ++i) {
    CHECK(status("/explain", "ada") == 200);
    CHECK(status("/candidates", "ada") == 200);
  }
  world.ask("/candidates", "namespace=ml&pod=large");
  const Reply over = world.reply();
  CHECK(over.status == 429);
  CHECK_THAT(*over.body, Catch::Contains("30 questions at once, then one every 1 s"));
  CHECK(over.headers == std::vector<std::pair<std::string, std::string>>{{"Retry-After", "1"}});
  CHECK(status("/explain", "boss") == 200);
  world.loop.advance(std::chrono::seconds(1));
  CHECK(status("/explain", "ada") == 200);
  CHECK(status("/explain", "ada") == 429);
  for (int i = 0; i < 30; ++i) CHECK(status("/explain", "eve") == 403);
  const std::size_t reviews = world.reviewed.size();
  CHECK(status("/explain", "eve") == 429);
  CHECK(world.reviewed.size() == reviews);
}

TEST_CASE("nothing is computed for a client that has gone") {
  PodQuestionsWorld world;
  world.ask("/explain", "namespace=ml&pod=fits");
  world.client.reset();
  REQUIRE(world.put.size() == 1);
  CHECK_FALSE(world.put.front().is_wanted());
}
