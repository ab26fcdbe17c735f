// `kubectl gpu why` of a caller who may not list the cluster: from the command line to the API
// server inside the test, and through its proxy to the scheduler.
#include "scheduler/kubectl-gpu/ui/ask_why.h"

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
    answers[kLeasePath] = tests::answer(200, kJson,
                                        R"({"metadata": {"name": "gpu-scheduler"},
                                            "spec": {"holderIdentity": "pod-1_1234"}})");
    answers[kAnswerPath] = tests::answer(200, kJson, answers::to_json(waiting()));
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

  std::map<std::string, std::string> answers;

 private:
  std::string answer_to(const ReceivedRequest& request) const {
    for (const auto& [path, answer] : answers) {
      if (request.target.starts_with(path)) return answer;
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
        "Next: kubectl get pod/train-0 -n ml -o yaml\n");
  CHECK(said.err ==
        "kubectl gpu: you may not list the cluster, so the scheduler answered; it does not name "
        "nodes and pods that you may not see\n");
  CHECK(api.token_shown_at(kAnswerPath) == "Bearer mine");
}

TEST_CASE("kubectl gpu why -o json prints the scheduler's JSON as it came") {
  ApiServer api;
  const auto said = api.say({"why", "train-0", "-n", "ml", "-o", "json"});
  CHECK(said.code == 0);
  CHECK(said.out == answers::to_json(waiting()));
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

TEST_CASE("other commands do not ask the scheduler") {
  ApiServer api;
  const auto said = api.say({"queue"});
  CHECK(said.code == kUnreadable);
  CHECK_THAT(said.err, !Catch::Contains("the scheduler did not answer"));
  CHECK(api.token_shown_at(kAnswerPath) == "none");
}

TEST_CASE("names stay within their parameter") {
  CHECK(why_target("ml", "train-0") == "/answers/why?namespace=ml&pod=train-0");
  CHECK(why_target("a&b", "c/../d?e") == "/answers/why?namespace=a%26b&pod=c%2F..%2Fd%3Fe");
}

}  // namespace sched::kubectl
