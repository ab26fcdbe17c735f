#include "scheduler/server/endpoints.h"

#include "tests/support/catch.h"

using sched::server::Endpoints;
using sched::server::Reply;

namespace {

Endpoints endpoints(bool nodes_synced, bool engine_works = true) {
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
              },
          .metrics = [] { return std::string("m 1\n"); }};
}

}  // namespace

TEST_CASE("alive is not ready") {
  CHECK(endpoints(false).get("/livez").status == 200);
  CHECK(endpoints(false).get("/healthz").status == 200);
  const Reply reply = endpoints(false).get("/readyz");
  CHECK(reply.status == 503);
  CHECK(reply.body ==
        "[+]watch-pods ok\n[-]watch-nodes failed: not synced yet\nreadyz check failed\n");
  CHECK(endpoints(true).get("/readyz").status == 200);
  CHECK(endpoints(true).get("/readyz").body == "ok");
}

TEST_CASE("a process that hangs is not alive") {
  for (const std::string page : {"livez", "healthz"}) {
    const Reply reply = endpoints(true, false).get("/" + page);
    CHECK(reply.status == 503);
    CHECK(reply.body == "[-]engine failed: it hangs\n" + page + " check failed\n");
  }
}

TEST_CASE("metrics in Prometheus' text format") {
  CHECK(endpoints(true).get("/metrics").body == "m 1\n");
  CHECK(endpoints(true).get("/metrics").content_type == "text/plain; version=0.0.4; charset=utf-8");
}

TEST_CASE("other paths are not found") {
  CHECK(endpoints(true).get("/").status == 404);
  CHECK(endpoints(true).get("/metrics/x").status == 404);
}
