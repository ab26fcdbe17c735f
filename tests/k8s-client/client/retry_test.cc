#include "k8s-client/retry.h"

#include "k8s-client/status_error.h"
#include "tests/support/catch.h"

namespace k8s {
namespace {

using namespace std::chrono_literals;

Error status(int code) { return status_error(Status{.code = code, .reason = {}, .message = {}}); }

TEST_CASE("only what the server asks patience for is retried", "[client]") {
  for (const auto& [code, retried] :
       {std::pair{429, true}, {503, true}, {500, false}, {504, false}, {409, false}}) {
    CAPTURE(code);
    RetryPolicy policy(1);
    CHECK(policy.after(status(code), {}).has_value() == retried);
  }
  for (const ErrorKind kind : {ErrorKind::kConnect, ErrorKind::kTimeout, ErrorKind::kConnection,
                               ErrorKind::kCancelled, ErrorKind::kDecode}) {
    Error error = status(429);
    error.kind = kind;
    CHECK_FALSE(RetryPolicy(1).after(error, {}));
  }
}

TEST_CASE("retries end, and wait at least as long as the server asks, for some seconds",
          "[client]") {
  RetryPolicy policy(1);
  for (int attempt = 1; attempt < RetryPolicy::kMaxAttempts; ++attempt) {
    Error error = status(429);
    if (attempt == 2) error.retry_after = 60s;
    const auto wait = policy.after(error, {});
    REQUIRE(wait);
    CHECK(*wait >= (attempt == 2 ? 10s : 200ms));
    CHECK(*wait <= 10s);
  }
  CHECK_FALSE(policy.after(status(429), {}));
}

}  // namespace
}  // namespace k8s
