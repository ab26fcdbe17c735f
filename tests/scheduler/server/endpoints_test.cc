#include "scheduler/server/endpoints.h"

#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using sched::server::DelegatedAccess;
using sched::server::MetricsEndpoint;
using sched::server::ProbeEndpoints;
using sched::server::Reply;
using namespace std::chrono_literals;

namespace {

ProbeEndpoints endpoints(bool nodes_synced, bool engine_works = true) {
  return {.liveness =
              [engine_works] {
                return std::vector<sched::server::Check>{
                    {.name = "engine", .passed = engine_works, .why_not = "it hangs"}};
              },
          .readiness =
              [nodes_synced] {
                return std::vector<sched::server::Check>{
                    {.name = "watch-pods", .passed = true, .why_not = ""},
                    {.name = "watch-nodes", .passed = nodes_synced, .why_not = "not synced yet"}};
              }};
}

// A page for those who may get it and see a pod, and an API server that knows the tokens "may",
// "may-get" and "may-not".
class Guarded {
 public:
  Reply get(std::optional<std::string_view> token) {
    std::optional<Reply> got;
    sched::server::if_allowed(
        access_, {.path = "/page", .bearer_token = token}, {kPage, kPod},
        [&](Reply reply) { got = reply; },
        [](const sched::server::HttpServer::Answer& answer) {
          answer(sched::server::text_reply(200, "a page"));
        });
    REQUIRE(got);
    return *got;
  }

  bool away = false;  // the API server

 private:
  template <typename T>
  k8s::Result<T> unless_away(T answer) const {
    if (away) return tl::unexpected(k8s::make_error(k8s::ErrorKind::kConnect, "nobody there"));
    return answer;
  }

  const k8s::Access kPage = k8s::NonResourceAccess{.path = "/page", .verb = "get"};
  const k8s::Access kPod =
      k8s::ResourceAccess{.verb = "get", .resource = "pods", .namespace_ = "ml", .name = "x"};
  tests::ManualLoop loop_;
  DelegatedAccess access_{
      loop_,
      {.review_token =
           [this](const std::string& token, auto done) {
             done(unless_away(k8s::TokenStatus{.authenticated = token.starts_with("may"),
                                               .user = {.username = "user of " + token}}));
           },
       .review_access =
           [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
             done(unless_away(user.username == "user of may" ||
                              (user.username == "user of may-get" && access == kPage)));
           }},
      {},
      {}};
};

}  // namespace

TEST_CASE("alive is not ready") {
  CHECK(endpoints(false).get("/livez").status == 200);
  CHECK(endpoints(false).get("/healthz").status == 200);
  const Reply reply = endpoints(false).get("/readyz");
  CHECK(reply.status == 503);
  CHECK(*reply.body ==
        "[+]watch-pods ok\n[-]watch-nodes failed: not synced yet\nreadyz check failed\n");
  CHECK(endpoints(true).get("/readyz").status == 200);
  CHECK(*endpoints(true).get("/readyz").body == "ok");
}

TEST_CASE("what is to be known of a check that passes is shown, and fails nothing") {
  ProbeEndpoints noted = endpoints(true);
  noted.readiness = [] {
    return std::vector<sched::server::Check>{
        {.name = "watch-pods", .passed = true, .why_not = "", .note = "one is bad"},
        {.name = "watch-nodes", .passed = true, .why_not = ""}};
  };
  const Reply reply = noted.get("/readyz");
  CHECK(reply.status == 200);
  CHECK(*reply.body == "[+]watch-pods ok, but one is bad\n[+]watch-nodes ok\nok");
}

TEST_CASE("whoever asks for it is told every check, as Kubernetes does") {
  const Reply passed = endpoints(true).get("/readyz", "verbose");
  CHECK(passed.status == 200);
  CHECK(*passed.body == "[+]watch-pods ok\n[+]watch-nodes ok\nreadyz check passed\n");
  CHECK(*endpoints(true).get("/livez", "verbose=1").body == "[+]engine ok\nlivez check passed\n");
  CHECK(*endpoints(true).get("/readyz", "verbos").body == "ok");
  const Reply failed = endpoints(false).get("/readyz", "verbose");
  CHECK(failed.status == 503);
  CHECK(*failed.body == *endpoints(false).get("/readyz").body);
}

TEST_CASE("one check can be asked for by its name") {
  CHECK(*endpoints(false).get("/readyz/watch-pods").body == "ok");
  const Reply failed = endpoints(false).get("/readyz/watch-nodes");
  CHECK(failed.status == 503);
  CHECK(*failed.body == "[-]watch-nodes failed: not synced yet\nreadyz check failed\n");
  CHECK(*endpoints(true).get("/livez/engine", "verbose").body ==
        "[+]engine ok\nlivez check passed\n");
  CHECK(endpoints(true).get("/readyz/nothing").status == 404);
  CHECK(endpoints(true).get("/livez/watch-pods").status == 404);
  CHECK(endpoints(true).get("/readyz/").status == 200);
}

TEST_CASE("a process that hangs is not alive") {
  for (const std::string page : {"livez", "healthz"}) {
    const Reply reply = endpoints(true, false).get("/" + page);
    CHECK(reply.status == 503);
    CHECK(*reply.body == "[-]engine failed: it hangs\n" + page + " check failed\n");
  }
}

TEST_CASE("other paths are not found, nor are metrics where everybody may look") {
  CHECK(endpoints(true).get("/").status == 404);
  CHECK(endpoints(true).get("/metrics").status == 404);
}

TEST_CASE("a page for those who may get it") {
  const Reply reply = Guarded().get("may");
  CHECK(reply.status == 200);
  CHECK(*reply.body == "a page");
}

TEST_CASE("who may not is told why, in words") {
  struct Case {
    std::optional<std::string_view> token;
    bool away;
    int want;
    std::string body;
  };
  for (const Case& c : std::vector<Case>{
           {{}, false, 401, "a bearer token is needed, of an account that may get \"/page\"\n"},
           {"made-up", false, 401, "the API server does not know this token\n"},
           {"may-not", false, 403,
            "\"user of may-not\" cannot get \"/page\": a ClusterRole with that nonResourceURL "
            "would let it\n"},
           {"may-get", false, 403,
            "\"user of may-get\" cannot get pods \"ml/x\": a Role with that right would let it\n"},
           {"may", true, 503, "the API server cannot be asked now who may get \"/page\"\n"}}) {
    Guarded guarded;
    guarded.away = c.away;
    const Reply reply = guarded.get(c.token);
    CHECK(reply.status == c.want);
    CHECK(*reply.body == c.body);
  }
}

TEST_CASE("the page of metrics is made once a second, however many read it") {
  tests::ManualLoop loop;
  int looks = 0;
  MetricsEndpoint metrics(loop, [&] { return "m " + std::to_string(++looks) + "\n"; });
  const Reply first = metrics.page();
  CHECK(first.status == 200);
  CHECK(first.content_type == "text/plain; version=0.0.4; charset=utf-8");
  loop.advance(999ms);
  CHECK(metrics.page().body == first.body);  // the very same
  loop.advance(1ms);
  CHECK(*metrics.page().body == "m 2\n");
  CHECK(*first.body == "m 1\n");
}
