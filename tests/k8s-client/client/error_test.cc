// What an error means for the request that it ended: the table that all callers share.
#include "k8s-client/error.h"

#include "k8s-client/status_error.h"
#include "tests/support/catch.h"

namespace k8s {
namespace {

TEST_CASE("what an answer of an error status means", "[client]") {
  struct Case {
    int status;
    bool may_have_acted;
    bool is_passing;
    bool asks_for_patience;
  };
  const Case cases[] = {
      {400, false, false, false}, {401, false, false, false}, {403, false, false, false},
      {404, false, false, false}, {408, true, true, false},   {409, false, false, false},
      {410, false, false, false}, {422, false, false, false}, {429, false, true, true},
      {500, true, true, false},   {502, true, true, false},   {503, true, true, true},
      {504, true, true, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.status);
    const Error error = status_error(Status{.code = c.status, .reason = {}, .message = {}});
    CHECK(error.is_status(c.status));
    CHECK_FALSE(error.is_status(c.status + 1));
    CHECK_FALSE(error.got_no_answer());
    CHECK(error.may_have_acted == c.may_have_acted);
    CHECK(error.is_passing() == c.is_passing);
    CHECK(error.asks_for_patience() == c.asks_for_patience);
  }
}

TEST_CASE("a 404 is about the object if the API server says so", "[client]") {
  const Error gone = status_error(Status{.code = 404, .reason = "NotFound", .message = {}});
  CHECK(gone.is_not_found());
  CHECK_FALSE(gone.is_misrouted());
  const Error other = status_error(Status{.code = 404, .reason = {}, .message = "no backend"});
  CHECK_FALSE(other.is_not_found());
  CHECK(other.is_misrouted());
  const Error refused = status_error(Status{.code = 403, .reason = "NotFound", .message = {}});
  CHECK_FALSE(refused.is_not_found());
  CHECK_FALSE(refused.is_misrouted());
}

TEST_CASE("what the lack of an answer means", "[client]") {
  struct Case {
    ErrorKind kind;
    bool got_no_answer;
  };
  const Case cases[] = {
      {ErrorKind::kCancelled, false}, {ErrorKind::kConnect, true},    {ErrorKind::kTls, true},
      {ErrorKind::kTimeout, true},    {ErrorKind::kConnection, true}, {ErrorKind::kDecode, false},
      {ErrorKind::kConfig, false},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.kind));
    Error error = make_error(c.kind, "why");
    error.http_status = 503;  // means nothing without an answer
    CHECK(error.message == "why");
    CHECK(error.got_no_answer() == c.got_no_answer);
    CHECK(error.is_passing() == c.got_no_answer);
    CHECK_FALSE(error.asks_for_patience());
    CHECK_FALSE(error.is_status(503));
  }
}

}  // namespace
}  // namespace k8s
