// What the scheduler answers in place of `kubectl gpu`: from the command line to the API server
// inside the test, and through its proxy to the scheduler.
#include "scheduler/kubectl-gpu/ui/ask_scheduler.h"

#include "scheduler/answers/json.h"
#include "scheduler/kubectl-gpu/run.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/support/tls_server.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sched::kubectl {
namespace {

using tests::ReceivedRequest;

// 2026-01-01T11:00:00Z
constexpr Time kAskedAt{std::chrono::seconds{1'767'265'200}};

constexpr const char* kLeasePath =
    "/apis/coordination.k8s.io/v1/namespaces/gpu-scheduler/leases/gpu-scheduler";
constexpr const char* kAnswerPath =
    "/api/v1/namespaces/gpu-scheduler/pods/https%3Apod-1%3A10259/proxy/answers/why"
    "?namespace=ml&pod=train-0";
constexpr const char* kProxyPath =
    "/api/v1/namespaces/gpu-scheduler/pods/https%3Apod-1%3A10259/proxy";
constexpr const char* kJson = "Content-Type: application/json\r\n";
constexpr const char* kText = "Content-Type: text/plain; charset=utf-8\r\n";

answers::Why waiting() {
  answers::Why why;
  why.verdict = answers::Why::Verdict::kWaits;
  why.pod = {"ml", "train-0", ""};
  why.since = kAskedAt - std::chrono::minutes(7);
  why.headline = "nvidia.com/gpu: needs 8 on one node; most free is 2 of 8";
  why.reasons = {{.nodes = 2, .reason = "Insufficient nvidia.com/gpu", .example = "free 2 of 8"}};
  why.is_for_nodes = true;
  why.room.if_empty_type = "H100-80GB";
  why.ends = {"ml/other (4)"};
  why.remedies = {{.change = {.what = "nodeSelector zone"}, .ends = {"1 other pod (2)"}}};
  why.withheld = {.nodes = true, .pods = 2, .gpus = 2};
  return why;
}

std::string forbidden(const std::string& what) {
  return tests::answer(
      403, kJson,
      R"({"kind": "Status", "code": 403, "reason": "Forbidden", "message": ")" + what + R"("})");
}

// An API server that lets the caller list nothing; the paths that it lets the caller get.
class ApiServer {
 public:
  struct Said {
    int code = 0;
    std::string out;
    std::string err;
  };

  ApiServer() {
    lead("pod-1_1234");
    answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(waiting()));
  }

  void lead(const std::string& identity) {
    answers[kLeasePath] = tests::answer(200, kJson,
                                        fmt::format(R"({{"metadata": {{"name": "gpu-scheduler"}},
                         "spec": {{"holderIdentity": "{}"}}}})",
                                                    identity));
  }

  Said say(std::vector<std::string> arguments) {
    std::ofstream(kubeconfig_) << fmt::format(
        R"({{"apiVersion": "v1", "kind": "Config", "current-context": "c",
             "clusters": [{{"name": "c", "cluster": {{"server": "https://127.0.0.1:{}",
                            "certificate-authority": "{}"}}}}],
             "users": [{{"name": "u", "user": {{"token": "mine"}}}}],
             "contexts": [{{"name": "c", "context": {{"cluster": "c", "user": "u",
                            "namespace": "ml"}}}}]}})",
        server_.port(), authority_file_);
    arguments.insert(arguments.end(), {"--kubeconfig", kubeconfig_});
    std::ostringstream out;
    std::ostringstream err;
    const int code = run(arguments, "1.2.3",
                         {.out = out, .err = err, .style = {}, .now = [] { return kAskedAt; }});
    return {code, out.str(), err.str()};
  }
  // Of the requests for that path; "none" where there was none.
  [[nodiscard]] std::string token_shown_at(const std::string& path) const {
    for (const ReceivedRequest& request : server_.requests()) {
      if (request.target.starts_with(path)) return request.header("x-gpu-scheduler-authorization");
    }
    return "none";
  }

  // What the next step says which cluster by.
  [[nodiscard]] std::string flag() const { return " --kubeconfig " + kubeconfig_; }

  std::map<std::string, std::string> answers;
  std::string leader_after_answer;  // empty: the same as before
  std::chrono::milliseconds first_answer_after{0};

 private:
  std::string answer_to(const ReceivedRequest& request) {
    for (const auto& [path, answer] : answers) {
      if (!request.target.starts_with(path)) continue;
      const std::string said = answer;
      if (path == kAnswerPath) std::this_thread::sleep_for(std::exchange(first_answer_after, {}));
      if (path == kAnswerPath && !leader_after_answer.empty()) lead(leader_after_answer);
      return said;
    }
    return forbidden("you may not " + request.method + " that");
  }

  tests::Authority authority_{"authority"};
  const std::string authority_file_ = [this] {
    std::string file = tests::scratch_dir() + "/ask-why-ca.pem";
    std::ofstream(file) << authority_.pem();
    return file;
  }();
  const std::string kubeconfig_ = tests::scratch_dir() + "/ask-why-kubeconfig.json";
  tests::TlsServer server_{
      {.identity = authority_.issue_server()},
      tests::answering([this](const ReceivedRequest& request) { return answer_to(request); })};
};

}  // namespace

TEST_CASE("kubectl gpu why asks the scheduler where the caller may not list the cluster") {
  ApiServer api;
  const auto said = api.say({"why", "pod/train-0"});
  CHECK(said.code == 0);
  CHECK(said.out ==
        "WAITS 7m - nvidia.com/gpu: needs 8 on one node; most free is 2 of 8\n"
        "  NODES  REASON                       EXAMPLE\n"
        "      2  Insufficient nvidia.com/gpu  free 2 of 8\n"
        "Frees when: on one node: ml/other (4) and 2 other pods (2) end\n"
        "Would run if: +1 node with H100-80GB\n"
        "       or if: no nodeSelector zone (after 1 other pod (2))\n"
        "Next: kubectl get pod/train-0 -n ml" +
            api.flag() + " -o yaml\n");
  CHECK(said.err ==
        "kubectl gpu: you may not list the cluster, so the scheduler answered; it does not name "
        "nodes and pods that you may not see\n");
  CHECK(api.token_shown_at(kAnswerPath) == "Bearer mine");
}

TEST_CASE("pods without a name here end, or one of them ends") {
  struct Case {
    std::size_t pods;
    const char* want;
  };
  for (const Case& each :
       std::vector<Case>{{1, "Frees when: on one node: 1 other pod (4) ends\n"},
                         {2, "Frees when: on one node: 2 other pods (4) end\n"}}) {
    ApiServer api;
    answers::Why why = waiting();
    why.ends.clear();
    why.withheld = {.nodes = true, .pods = each.pods, .gpus = 4};
    api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
    CHECK_THAT(api.say({"why", "pod/train-0"}).out, Catch::Contains(each.want));
  }
}

TEST_CASE("a score of a plugin stands below that plugin, whatever the scheduler lists") {
  ApiServer api;
  answers::Why why = waiting();
  why.verdict = answers::Why::Verdict::kPlaced;
  why.node = "a";
  why.candidates = {
      {.node = "a",
       .total_score = 7,
       .scores = {{.plugin = "P", .score = 3, .weight = 1},
                  {.plugin = "Q", .score = 4, .weight = 1},
                  {.plugin = "Q", .score = 5, .weight = 1}}},
      {.node = "b", .total_score = 2, .scores = {{.plugin = "Q", .score = 2, .weight = 1}}}};
  api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
  CHECK_THAT(api.say({"why", "pod/train-0"}).out,
             Catch::Contains("  RANK  NODE  TOTAL    P    Q    Q\n"
                             "     1  a         7  3·1  4·1  4·1  here\n"
                             "     2  b         2    -  2·1  2·1\n"));
}

TEST_CASE("with --ask the scheduler is asked first, and nothing is listed if it answers") {
  ApiServer api;
  const auto said = api.say({"why", "pod/train-0", "--ask"});
  CHECK(said.code == 0);
  CHECK_THAT(said.out, Catch::StartsWith("WAITS 7m"));
  CHECK(said.err.empty());
  CHECK(api.token_shown_at("/api/v1/pods") == "none");
}

TEST_CASE("kubectl gpu --ask prints the scheduler's overview, of all pods or of a namespace's") {
  ApiServer api;
  answers::Overview overview;
  overview.gpus = {.total = 16, .used = 9, .held = 0, .free = 7};
  overview.types = {{.type = "H100-80GB",
                     .form = {},
                     .nodes = 2,
                     .pieces = overview.gpus,
                     .largest_block = 6,
                     .largest_on = "h100-1",
                     .whole_nodes_free = 0}};
  overview.waiting = {.pods = 3, .gpus = 24, .gated = 0, .never = 0};
  overview.data_age = std::chrono::seconds(2);
  const std::string proxy = kProxyPath;
  api.answers[proxy + "/answers/overview"] = tests::answer(200, kJson, answers::to_json(overview));
  const auto said = api.say({"--ask"});
  CHECK(said.code == 0);
  CHECK(said.out ==
        "16 GPUs  9 used  7 free | 3 pods wait (24 GPUs)\n"
        "TYPE       NODES  USED  FREE  LARGEST BLOCK  WHOLE NODES FREE\n"
        "H100-80GB      2  9/16     7  6 (h100-1)                    0\n"
        "As of 2s ago\n"
        "Next: kubectl gpu queue" +
            api.flag() + "\n");
  CHECK(said.err.empty());
  CHECK(api.say({"--ask", "-o", "json"}).out == answers::to_json(overview));
  CHECK(api.token_shown_at(proxy + "/answers/overview?namespace=") == "none");

  overview.waiting.pods = 1;
  api.answers.erase(proxy + "/answers/overview");
  api.answers[proxy + "/answers/overview?namespace=vision"] =
      tests::answer(200, kJson, answers::to_json(overview));
  CHECK_THAT(api.say({"--ask", "-n", "vision"}).out, Catch::Contains("| 1 pod waits"));
}

TEST_CASE("who may not list the cluster waits for a scheduler that is slow to answer") {
  ApiServer api;
  api.first_answer_after = std::chrono::milliseconds(2'500);  // more than its patience
  const auto said = api.say({"why", "train-0", "--ask"});
  CHECK(said.code == 0);
  CHECK_THAT(said.out, Catch::StartsWith("WAITS 7m"));
}

TEST_CASE("what the scheduler does not answer is computed from lists, and shows it no token") {
  ApiServer api;
  const auto is_listed = [&](const ApiServer::Said& said) {
    CHECK(said.code == kUnreadable);
    return said.err.find("kubectl gpu: reading ") != std::string::npos;
  };
  const std::string proxy = kProxyPath;
  CHECK(is_listed(api.say({"--ask"})));
  CHECK(api.token_shown_at(proxy) == "Bearer mine");
  ApiServer untold;
  CHECK(untold.say({}).code == kUnreadable);
  CHECK(untold.token_shown_at(proxy) == "none");
}

TEST_CASE("kubectl gpu why -o json prints the scheduler's JSON as it came") {
  ApiServer api;
  const auto said = api.say({"why", "train-0", "-n", "ml", "-o", "json"});
  CHECK(said.code == 0);
  CHECK(said.out == answers::to_json(waiting()));
}

TEST_CASE("how a placed pod was chosen is a line, and how old that is another one") {
  ApiServer api;
  answers::Why why;
  why.verdict = answers::Why::Verdict::kPlaced;
  why.pod = {"ml", "train-0", ""};
  why.node = "a100-1";
  why.since = kAskedAt - std::chrono::minutes(12);
  why.chosen = {.decision = 42,
                .score = 87,
                .fitting_nodes = 6,
                .all_nodes = 8,
                .attempts = 1,
                .waited = std::chrono::seconds(4),
                .runner_up = answers::Chosen::RunnerUp{"a100-2", 84}};
  why.data_age = std::chrono::seconds(2);
  const auto said = [&] {
    api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
    return api.say({"why", "train-0"}).out;
  };
  CHECK(
      said() ==
      "PLACED a100-1 12m ago\n"
      "  Chosen by decision 42 from 6 of 8 nodes, 4s after it came: score 87, 3 more than a100-2\n"
      "As of 2s ago\n");
  why.chosen->runner_up = answers::Chosen::RunnerUp{"", 87};
  why.chosen->attempts = 3;
  CHECK_THAT(said(), Catch::Contains("4s after it came at attempt 3: score 87, as much as the next "
                                     "node, which comes behind it\n"));
  why.chosen->runner_up.reset();
  why.data_age.reset();
  CHECK_THAT(said(), Catch::EndsWith("at attempt 3: score 87\n"));
}

TEST_CASE("where another replica leads meanwhile, that one is asked, once") {
  ApiServer api;
  const std::string second =
      "/api/v1/namespaces/gpu-scheduler/pods/https%3Apod-2%3A10259/proxy/answers/why";
  const std::string no = tests::answer(503, kText, "this replica decides nothing\n");
  api.answers[kAnswerPath] = no;
  api.answers[second] = tests::answer(200, kJson, answers::to_json(waiting()));
  CHECK(api.say({"why", "train-0"}).code == kUnreadable);  // the lease names the same one
  api.leader_after_answer = "pod-2_5678";
  CHECK(api.say({"why", "train-0"}).code == 0);
  CHECK(api.token_shown_at(second) == "Bearer mine");
  api.answers[second] = no;
  api.lead("pod-1_1234");
  const auto neither = api.say({"why", "train-0"});
  CHECK(neither.code == kUnreadable);
  CHECK_THAT(neither.err, Catch::Contains("this replica decides nothing"));
}

TEST_CASE("where the scheduler does not answer either, both reasons are given, and what to do") {
  ApiServer api;
  const auto refused = [&](const std::string& want) {
    const auto said = api.say({"why", "pod/train-0"});
    CHECK(said.code == kUnreadable);
    CHECK(said.out.empty());
    CHECK_THAT(said.err, Catch::Contains("the ClusterRole gpu-scheduler-reader lets you") &&
                             Catch::Contains("the scheduler did not answer instead: ") &&
                             Catch::Contains(want));
  };
  api.answers[kAnswerPath] = forbidden("no pods/proxy");
  refused("the Role gpu-scheduler-answers in the scheduler's namespace lets you");
  api.answers[kAnswerPath] = tests::answer(404, kText, "answers for tenants are off here\n");
  refused("answers for tenants are off here");
  api.answers[kAnswerPath] = tests::answer(403, kText, "\"eve\" cannot get pods in \"ml\"\n");
  refused("\"eve\" cannot get pods in \"ml\"");
  api.answers[kAnswerPath] = tests::answer(429, kText, "ask again in 2 s\n");
  refused("ask again in 2 s");
  api.answers[kAnswerPath] = tests::answer(200, kText, "a page");
  refused("the answer is no JSON");
  api.answers[kLeasePath] = tests::answer(
      200, kJson, R"({"metadata": {"name": "gpu-scheduler"}, "spec": {"holderIdentity": ""}})");
  refused("no scheduler leads now");
  api.answers[kLeasePath] = forbidden("no leases");
  refused("the Role gpu-scheduler-answers");
}

TEST_CASE(
    "kubectl gpu queue and quota ask the scheduler about the context's namespace, or that of -n") {
  ApiServer api;
  answers::Queue queue;
  answers::QueueRow& row = queue.rows.emplace_back();
  row.position = 1;
  row.place_in_line = 3;
  row.line_length = 17;
  row.pod = {"ml", "train-0", ""};
  row.quota = "team-ml";
  row.asks = "8 H100";
  row.created = kAskedAt - std::chrono::minutes(7);
  row.blocked_by = "quota";
  row.next = "H100 needs 8, 4 of 8 in use, 3rd in line";
  queue.left_out = 2;
  const std::string proxy = kProxyPath;
  api.answers[proxy + "/answers/queue?namespace=ml"] =
      tests::answer(200, kJson, answers::to_json(queue));
  const auto line = api.say({"queue"});
  CHECK(line.code == 0);
  CHECK(line.out ==
        "#  POD         QUOTA    IN LINE    ASKS    WAITED  BLOCKED BY  NEXT\n"
        "1  ml/train-0  team-ml  3rd of 17  8 H100      7m  quota       "
        "H100 needs 8, 4 of 8 in use, 3rd in line\n"
        "and 2 pods more\n"
        "Next: kubectl gpu why pod/train-0 -n ml" +
            api.flag() + "\n");
  CHECK_THAT(line.err, Catch::Contains("so the scheduler answered"));
  CHECK(api.say({"queue", "-o", "json"}).out == answers::to_json(queue));

  answers::QuotasSeen quotas{.namespace_ = "other", .of = {}, .is_withheld = true};
  QuotaStatus team{.name = "team", .uid = {}, .status = {}, .parent = "department"};
  team.status.quotas = {{.gpu_type = "H100",
                         .use = {.guaranteed = k8s::Quantity::of(8),
                                 .used = k8s::Quantity::of(10),
                                 .borrowed = k8s::Quantity::of(2),
                                 .pending = k8s::Quantity::of(9)}}};
  QuotaStatus department = team;
  department.name = "department";
  department.parent.clear();
  quotas.of.quotas = {team, department};
  quotas.of.in_line = 17;
  quotas.of.head_since = kAskedAt - std::chrono::minutes(9);
  quotas.of.first_place = 3;
  api.answers[proxy + "/answers/quota?namespace=other"] =
      tests::answer(200, kJson, answers::to_json(quotas));
  const auto said = api.say({"quota", "-n", "other"});
  CHECK(said.code == 0);
  CHECK(said.out ==
        "QUOTA       TYPE  USED  BORROWED  LENT  PENDING\n"
        "department  H100  10/8         2     0        9\n"
        "  team      H100  10/8         2     0        9\n"
        "In line: 17 pods; the first, of another namespace, waits 9m; the first of other is 3rd\n");
  quotas.loans = {{.pod = "other/x",
                   .quota = "team",
                   .gpu_type = "H100",
                   .gpus = k8s::Quantity::of(2),
                   .since = kAskedAt - std::chrono::minutes(3)}};
  api.answers[proxy + "/answers/quota?namespace=other"] =
      tests::answer(200, kJson, answers::to_json(quotas));
  CHECK_THAT(api.say({"quota", "-n", "other", "-o", "wide"}).out,
             Catch::EndsWith("Borrowed, the latest loan first:\n"
                             "POD      QUOTA  TYPE  GPUS  SINCE\n"
                             "other/x  team   H100     2     3m\n"));
  quotas.of = {};
  quotas.loans.clear();
  const auto told = [&] {
    api.answers[proxy + "/answers/quota?namespace=other"] =
        tests::answer(200, kJson, answers::to_json(quotas));
    return api.say({"quota", "-n", "other"}).out;
  };
  CHECK(told() == "No GpuQuota counts namespace other\n");
  quotas.of.without = "namespace other has no GPU quota, and pods without quota get no GPUs";
  quotas.of.in_line = 1;
  quotas.of.head = PodRef{"other", "x", ""};
  quotas.of.head_since = kAskedAt;
  quotas.of.first_place = 1;
  CHECK(told() ==
        "NO GPUS  namespace other has no GPU quota, and pods without quota get no GPUs\n"
        "In line: 1 pod; the first, other/x, waits 0s\n");

  const auto all = api.say({"queue", "-A"});
  CHECK(all.code == kUnreadable);
  CHECK_THAT(all.err, Catch::Contains("the scheduler answers about one namespace"));
  const auto unknown = api.say({"quota", "-n", "unknown"});
  CHECK(unknown.code == kUnreadable);
  CHECK_THAT(unknown.err, Catch::Contains("the Role gpu-scheduler-answers"));
}

TEST_CASE("the next step repeats the way to the scheduler, where its command may ask it") {
  ApiServer api;
  api.answers["/apis/coordination.k8s.io/v1/namespaces/gpu-scheduler/leases/gpu-pool-a"] =
      api.answers[kLeasePath];
  api.answers.erase(kLeasePath);
  const std::string token = tests::scratch_dir() + "/ask-why-token";
  std::ofstream(token) << "other";
  const std::vector<std::string> way = {"--lease", "gpu-pool-a", "--token-file", token};
  const auto next_step = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), way.begin(), way.end());
    const auto said = api.say(arguments);
    CHECK(said.code == 0);
    const auto at = said.out.find("Next: ");
    return at == std::string::npos ? "none" : said.out.substr(at);
  };
  const std::string flags = " --token-file " + token + " --lease gpu-pool-a" + api.flag() + "\n";
  const std::string proxy = kProxyPath;
  answers::Queue queue;
  queue.rows.emplace_back().pod = {"ml", "train-0", ""};
  api.answers[proxy + "/answers/queue"] = tests::answer(200, kJson, answers::to_json(queue));
  CHECK(next_step({"queue"}) == "Next: kubectl gpu why pod/train-0 -n ml" + flags);
  CHECK(api.token_shown_at(proxy) == "Bearer other");
  answers::Overview overview;
  overview.waiting.pods = 1;
  api.answers[proxy + "/answers/overview"] = tests::answer(200, kJson, answers::to_json(overview));
  CHECK(next_step({"--ask"}) == "Next: kubectl gpu queue" + flags);
  answers::Why why = waiting();
  why.withheld.reset();
  why.is_for_nodes = false;
  why.is_for_quota = true;
  api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
  CHECK(next_step({"why", "train-0"}) == "Next: kubectl gpu quota -n ml" + flags);
  why.is_for_nodes = true;
  why.is_for_quota = false;
  why.room.if_empty = "h100-1";
  api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
  CHECK(next_step({"why", "train-0"}) ==
        "Next: kubectl gpu plan --add h100-1=1" + api.flag() + "\n");
  why.verdict = answers::Why::Verdict::kStarts;
  api.answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(why));
  CHECK(next_step({"why", "train-0"}) == "Next: kubectl get lease gpu-pool-a -n gpu-scheduler" +
                                             api.flag() + "   # does the scheduler run?\n");
}

TEST_CASE("a cluster that the caller may list is read once, and the scheduler is not asked") {
  ApiServer api;
  const std::string end_of_list =
      R"({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7", )"
      R"("annotations": {"k8s.io/initial-events-end": "true"}}}})";
  // Every list is streamed, and empty.
  api.answers["/api"] = tests::answer(200, kJson, end_of_list + "\n");
  const auto said = api.say({"queue"});
  CHECK(said.code == 0);
  CHECK(said.out == "No pod waits\n");
  CHECK(said.err.empty());
  CHECK(api.token_shown_at(kProxyPath) == "none");
}

TEST_CASE("other commands do not ask the scheduler") {
  ApiServer api;
  const auto said = api.say({"nodes"});
  CHECK(said.code == kUnreadable);
  CHECK_THAT(said.err, !Catch::Contains("the scheduler did not answer"));
  CHECK(api.token_shown_at(kAnswerPath) == "none");
  const auto refused = api.say({"nodes", "--server", "https://127.0.0.1:1"});
  CHECK(refused.code == kBadUsage);
  CHECK_THAT(refused.err, Catch::Contains("nodes and plan ask no scheduler"));
}

TEST_CASE("names stay within their parameter") {
  const auto why = [](const char* namespace_, const char* pod) {
    return answer_target(Command::kWhy, namespace_, pod);
  };
  CHECK(why("ml", "train-0") == "/answers/why?namespace=ml&pod=train-0");
  CHECK(why("a&b", "c/../d?e") == "/answers/why?namespace=a%26b&pod=c%2F..%2Fd%3Fe");
  CHECK(answer_target(Command::kQueue, "a&b", "") == "/answers/queue?namespace=a%26b");
  CHECK(answer_target(Command::kOverview, "", "") == "/answers/overview");
  CHECK(answer_target(Command::kOverview, "a&b", "") == "/answers/overview?namespace=a%26b");
}

}  // namespace sched::kubectl
