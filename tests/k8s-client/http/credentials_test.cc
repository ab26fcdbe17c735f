// Whom we say we are, and what happens when that is not believed.
#include "tests/k8s-client/http/transport_fixture.h"

using k8s::ErrorKind;
using namespace tests;

TEST_CASE("transport: each request carries the token of its time") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  fixture.credentials.token = "one";
  CHECK(fixture.exchange(get("/1"))->response().status == 200);
  fixture.credentials.token = "two";
  CHECK(fixture.exchange(get("/2"))->response().status == 200);
  fixture.credentials.token.reset();
  const auto streamed = fixture.stream(get("/3"));
  fixture.run_until([&] { return streamed->ended(); });
  const auto seen = server.requests();
  CHECK(seen.at(0).header("authorization") == "Bearer one");
  CHECK(seen.at(1).header("authorization") == "Bearer two");
  CHECK(seen.at(2).headers.count("authorization") == 0);
  CHECK(seen.at(1).connection == 1);  // a token is no reason for a new connection
}

TEST_CASE("transport: 401 is an answer, and the credentials are told") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest& request) {
    return request.target == "/refused" ? answer(401, "", "who are you?") : ok("yes");
  }));
  CHECK(fixture.exchange(get("/fine"))->response().status == 200);
  CHECK(fixture.credentials.rejections == 0);
  const auto sent = fixture.exchange(get("/refused"));
  CHECK(sent->response().status == 401);
  CHECK(sent->response().body == "who are you?");
  CHECK(fixture.credentials.rejections == 1);
  const auto streamed = fixture.stream(get("/refused"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->head.status == 401);
  CHECK(fixture.credentials.rejections == 2);
}

TEST_CASE("transport: a 401 of a webhook does not refuse the credentials") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest&) {
    return answer(401, "X-Kubernetes-Pf-Flowschema-Uid: c43f32eb\r\n", "denied");
  }));
  CHECK(fixture.exchange(post("/bind", "{}"))->response().status == 401);
  const auto streamed = fixture.stream(get("/watch"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->head.status == 401);
  CHECK(fixture.credentials.rejections == 0);
}

TEST_CASE(
    "transport: credentials that cannot be had end the request, and the next one tries anew") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  const k8s::Error failure{.kind = ErrorKind::kConfig, .message = "token file is gone"};
  fixture.credentials.failure = failure;
  const auto first = fixture.send(post("/1", "{}"));
  const auto second = fixture.send(post("/2", "{}"));
  const auto streamed = fixture.stream(get("/3"));
  fixture.run_until([&] { return first->ended() && second->ended() && streamed->ended(); });
  for (const auto& error : {first->error(), second->error(), streamed->error.value()}) {
    CHECK(error.kind == ErrorKind::kConfig);
    CHECK_THAT(error.message, Catch::Contains("token file is gone"));
    CHECK_FALSE(error.may_have_acted);
  }
  CHECK(server.requests().empty());
  fixture.credentials.failure.reset();
  CHECK(fixture.exchange(post("/4", "{}"))->response().body == "yes");
}
