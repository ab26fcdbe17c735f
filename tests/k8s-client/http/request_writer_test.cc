// What a request says of where it goes.
#include "k8s-client/http/asio/request_writer.h"

#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <vector>

using k8s::Endpoint;

TEST_CASE("the port stands behind the host unless it is the scheme's own") {
  struct Case {
    Endpoint to;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{.tls = true, .host = "api", .port = 443, .server_name = {}, .path_prefix = {}}, "api"},
      {{.tls = true, .host = "api", .port = 80, .server_name = {}, .path_prefix = {}}, "api:80"},
      {{.tls = false, .host = "api", .port = 80, .server_name = {}, .path_prefix = {}}, "api"},
      {{.tls = false, .host = "api", .port = 443, .server_name = {}, .path_prefix = {}}, "api:443"},
      {{.tls = true, .host = "::1", .port = 6443, .server_name = {}, .path_prefix = {}},
       "[::1]:6443"},
  };
  for (const Case& each : cases) {
    std::string out;
    CHECK_FALSE(k8s::http::RequestWriter(each.to, "test").write({}, std::nullopt, out));
    CHECK_THAT(out, Catch::Contains("\r\nHost: " + each.want + "\r\n"));
  }
}
