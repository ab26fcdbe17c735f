// The way from a browser to the page: what is let through, and how the leader is found.
#include "k8s-client/auth/file_credentials.h"
#include "scheduler/kubectl-gpu/ui/leader.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched::kubectl {
namespace {

using server::Reply;

k8s::Response response(int status, std::string body, std::string type = "text/plain") {
  k8s::Response made;
  made.status = status;
  made.headers = {{"Content-Type", std::move(type)}};
  made.body = std::move(body);
  return made;
}

// A proxy whose scheduler answers with what it was asked for.
class Proxied {
 public:
  Reply get(const std::string& path, const std::string& host = "127.0.0.1:4000",
            const std::string& query = "") {
    std::optional<Reply> got;
    proxy.get({.path = path, .query = query, .host = host},
              [&](Reply reply) { got = std::move(reply); });
    REQUIRE(got);
    return *got;
  }

  std::vector<std::string> asked;
  k8s::Result<k8s::Response> answer = response(200, "page", "text/html; charset=utf-8");
  UiProxy proxy = [this] {
    UiProxy made("SECRET", [this](const std::string& target, auto done) {
      asked.push_back(target);
      done(answer);
    });
    made.listens_at(4000);
    return made;
  }();
};

std::string header(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "none";
}

class ByLease {
 public:
  explicit ByLease(std::string token = "mine", LeaderAddress address = {}) {
    k8s::auth::CredentialSources sources;
    sources.token = std::move(token);
    credentials.emplace(sources, std::chrono::steady_clock::now);
    leader.emplace(loop, transport, *credentials, std::move(address));
  }

  // Of one request.
  void fetch(const std::string& target) {
    answers.emplace_back();
    const std::size_t at = answers.size() - 1;
    leader->fetch(target, [this, at](k8s::Result<k8s::Response> got) {
      REQUIRE_FALSE(answers[at]);
      answers[at] = std::move(got);
    });
    loop.run_ready();
  }
  void lease_says(const std::string& holder) {
    transport.next()->respond(
        200, R"({"metadata": {"name": "gpu-scheduler"}, "spec": {"holderIdentity": ")" + holder +
                 R"("}})");
    loop.run_ready();
  }
  void answer(int status) {
    transport.next()->respond(status, "said");
    loop.run_ready();
  }

  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  std::optional<k8s::auth::FileCredentials> credentials;
  std::optional<LeaderByLease> leader;
  std::vector<std::optional<k8s::Result<k8s::Response>>> answers;
};

constexpr const char* kLease =
    "GET /apis/coordination.k8s.io/v1/namespaces/gpu-scheduler/leases/gpu-scheduler?timeout=10s";
constexpr const char* kPod1 =
    "GET /api/v1/namespaces/gpu-scheduler/pods/https%3Apod-1%3A10259/proxy";
constexpr const char* kPod2 =
    "GET /api/v1/namespaces/gpu-scheduler/pods/https%3Apod-2%3A10259/proxy";

}  // namespace

TEST_CASE("the proxy sends on what is below ui, for those who know the secret") {
  Proxied world;
  const Reply got = world.get("/SECRET/ui/state", "localhost:4000", "a=%2F");
  CHECK(got.status == 200);
  CHECK(*got.body == "page");
  CHECK(got.content_type == "text/html; charset=utf-8");
  CHECK_THAT(header(got, "Content-Security-Policy"), Catch::StartsWith("default-src 'self'"));
  CHECK(header(got, "Cross-Origin-Resource-Policy") == "same-origin");
  CHECK(header(got, "Access-Control-Allow-Origin") == "none");
  CHECK(world.get("/SECRET/ui/").status == 200);
  CHECK(world.asked == std::vector<std::string>{"/ui/state?a=%2F", "/ui/"});
  CHECK(world.proxy.url() == "http://127.0.0.1:4000/SECRET/ui/");
}

TEST_CASE("the proxy asks nobody for what does not belong to the page") {
  Proxied world;
  struct Case {
    std::string path;
    std::string host;
    int want;
  };
  for (const Case& each :
       std::vector<Case>{{"/SECRET/ui/", "evil.example:4000", 421},  // DNS rebinding
                         {"/SECRET/ui/", "127.0.0.1:4001", 421},
                         {"/SECRET/ui/", "127.0.0.1", 421},
                         {"/SECRET/ui/", "", 421},
                         {"/", "127.0.0.1:4000", 403},
                         {"", "127.0.0.1:4000", 403},
                         {"/ui/", "127.0.0.1:4000", 403},
                         {"/SECRE/ui/", "127.0.0.1:4000", 403},
                         {"/SECRETS/ui/", "127.0.0.1:4000", 403},
                         {"/secret/ui/", "127.0.0.1:4000", 403},
                         {"/SECRET", "127.0.0.1:4000", 404},
                         {"/SECRET/", "127.0.0.1:4000", 404},
                         {"/SECRET/metrics", "127.0.0.1:4000", 404},
                         {"/SECRET/uix", "127.0.0.1:4000", 404},
                         {"/SECRET/ui/../metrics", "127.0.0.1:4000", 404},
                         {"/SECRET/ui/%2e%2e/metrics", "127.0.0.1:4000", 404},
                         {"/SECRET/ui/a?b", "127.0.0.1:4000", 404}}) {
    INFO(each.path << " of " << each.host);
    const Reply got = world.get(each.path, each.host);
    CHECK(got.status == each.want);
    CHECK_THAT(header(got, "Content-Security-Policy"), Catch::StartsWith("default-src 'self'"));
  }
  CHECK(world.asked.empty());
}

TEST_CASE("the proxy says why the scheduler, or the way to it, says no") {
  Proxied world;
  world.answer = response(403, "\"eve\" cannot get \"/ui\"\n", "text/plain; charset=utf-8");
  CHECK(world.get("/SECRET/ui/").status == 403);
  CHECK(*world.get("/SECRET/ui/").body == "\"eve\" cannot get \"/ui\"\n");
  // A browser would ask its user for a password.
  world.answer = response(401, "not known\n");
  CHECK(world.get("/SECRET/ui/").status == 403);
  world.answer = response(
      403, R"({"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no pods/proxy"})",
      "application/json");
  CHECK_THAT(*world.get("/SECRET/ui/").body, Catch::Contains("no pods/proxy"));
  CHECK_THAT(*world.get("/SECRET/ui/").body, Catch::Contains("the Role gpu-scheduler-ui"));
  world.answer = k8s::config_error("no way there");
  CHECK(world.get("/SECRET/ui/").status == 502);
  CHECK(*world.get("/SECRET/ui/").body == "no way there\n");
}

TEST_CASE("secrets are long, fit into a URL, and are not the same") {
  const std::string secret = make_secret();
  CHECK(secret.size() == 43);
  CHECK(secret.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
        std::string::npos);
  CHECK(secret != make_secret());
}

TEST_CASE("the leader is the pod of the lease's holder, and is asked with a token of its own") {
  ByLease world;
  world.fetch("/ui/");
  world.fetch("/ui/state?x=y");
  CHECK(world.transport.seen() == std::vector<std::string>{kLease});
  world.lease_says("pod-1_6f1c-uuid");
  CHECK(world.transport.seen() == std::vector<std::string>{kLease, std::string(kPod1) + "/ui/",
                                                           std::string(kPod1) + "/ui/state?x=y"});
  const auto call = world.transport.next();
  CHECK(call->request().headers.back() ==
        std::pair<std::string, std::string>("X-Gpu-Scheduler-Authorization", "Bearer mine"));
  call->respond(200, "said");
  world.answer(200);
  REQUIRE(world.answers[1]);
  CHECK((**world.answers[1]).body == "said");
  world.fetch("/ui/");
  CHECK(world.transport.seen().back() == std::string(kPod1) + "/ui/");
}

TEST_CASE("the leader is looked for anew once it does not answer as one") {
  for (const int status : {404, 500}) {
    ByLease world;
    world.fetch("/ui/");
    world.lease_says("pod-1_a");
    world.answer(status);
    CHECK((**world.answers[0]).status == status);
    world.fetch("/ui/");
    CHECK(world.transport.seen().back() == kLease);
    world.lease_says("pod-2_b");
    CHECK(world.transport.seen().back() == std::string(kPod2) + "/ui/");
  }
  ByLease world;
  world.fetch("/ui/");
  world.lease_says("pod-1_a");
  world.answer(403);
  world.fetch("/ui/");
  CHECK(world.transport.seen().back() == std::string(kPod1) + "/ui/");
}

TEST_CASE(
    "where the pod says that it decides nothing, the one that leads meanwhile is asked, once") {
  ByLease world;
  world.fetch("/ui/");
  world.lease_says("pod-1_a");
  world.answer(503);
  CHECK_FALSE(world.answers[0]);
  CHECK(world.transport.seen().back() == kLease);
  world.lease_says("pod-2_b");
  CHECK(world.transport.seen().back() == std::string(kPod2) + "/ui/");
  world.answer(503);
  REQUIRE(world.answers[0]);
  CHECK((**world.answers[0]).status == 503);

  ByLease same;
  same.fetch("/ui/");
  same.lease_says("pod-1_a");
  same.answer(503);
  same.lease_says("pod-1_a");
  REQUIRE(same.answers[0]);
  CHECK((**same.answers[0]).status == 503);
}

TEST_CASE("without a leader, a right or a token it is said what is missing") {
  ByLease nobody;
  nobody.fetch("/ui/");
  nobody.lease_says("");
  CHECK_THAT(nobody.answers[0]->error().message, Catch::Contains("no scheduler leads now"));

  ByLease forbidden;
  forbidden.fetch("/ui/");
  forbidden.answer(403);
  CHECK_THAT(forbidden.answers[0]->error().message, Catch::Contains("the Role gpu-scheduler-ui"));

  ByLease no_token("");
  no_token.fetch("/ui/");
  no_token.lease_says("pod-1_a");
  CHECK_THAT(no_token.answers[0]->error().message, Catch::Contains("--token-file"));
  CHECK(no_token.transport.seen() == std::vector<std::string>{kLease});
}

TEST_CASE("the lease may be in another namespace than the scheduler's pods") {
  const std::string lease =
      "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gpu-scheduler?timeout=10s";
  ByLease world("mine", {.lease_namespace = "kube-system"});
  world.fetch("/ui/");
  world.lease_says("pod-1_a");
  CHECK(world.transport.seen() == std::vector<std::string>{lease, std::string(kPod1) + "/ui/"});
  // Also when the leader is looked for anew.
  world.answer(503);
  CHECK(world.transport.seen().back() == lease);

  ByLease nobody("mine", {.lease_namespace = "kube-system"});
  nobody.fetch("/ui/");
  nobody.lease_says("");
  CHECK_THAT(nobody.answers[0]->error().message,
             Catch::Contains("nobody holds the lease kube-system/gpu-scheduler"));
  ByLease forbidden("mine", {.lease_namespace = "kube-system"});
  forbidden.fetch("/ui/");
  forbidden.answer(403);
  CHECK_THAT(forbidden.answers[0]->error().message,
             Catch::Contains("; get of that lease lets you"));
}

TEST_CASE("a host's name may have underscores, the random part behind it has none") {
  CHECK(pod_of_holder("gpu-scheduler-7d9f-abc_12345678-1234-4123-8123-123456789abc") ==
        "gpu-scheduler-7d9f-abc");
  CHECK(pod_of_holder("a_b_1-2") == "a_b");
  CHECK(pod_of_holder("").empty());
}

}  // namespace sched::kubectl
