#include "k8s-client/request_target.h"

#include "tests/support/catch.h"

namespace k8s {
namespace {

TEST_CASE("everything but unreserved characters is encoded", "[client]") {
  CHECK(percent_encode("azAZ09-._~") == "azAZ09-._~");
  CHECK(percent_encode("a/b c?d=e&f%+#") == "a%2Fb%20c%3Fd%3De%26f%25%2B%23");
  CHECK(percent_encode("\xc3\xa9\n") == "%C3%A9%0A");
  CHECK(percent_encode("").empty());
}

TEST_CASE("a target is a path, segments and a query", "[client]") {
  CHECK(RequestTarget("/api/v1/pods").text() == "/api/v1/pods");
  CHECK(RequestTarget("/api").segment("a b").query("x", "1&2").query("y z", "").text() ==
        "/api/a%20b?x=1%262&y%20z=");
}

}  // namespace
}  // namespace k8s
