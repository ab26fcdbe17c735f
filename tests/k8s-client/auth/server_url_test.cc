#include "k8s-client/auth/server_url.h"

#include "tests/support/catch.h"

using k8s::auth::parse_server_url;

TEST_CASE("server URL: taken apart") {
  struct Case {
    std::string url;
    bool tls;
    std::string host;
    int port;
    std::string prefix;
  };
  const auto c = GENERATE(values<Case>({
      {"https://10.0.0.1:6443", true, "10.0.0.1", 6443, ""},
      {"https://api.example.com", true, "api.example.com", 443, ""},
      {"https://api.example.com/", true, "api.example.com", 443, ""},
      {"http://localhost", false, "localhost", 80, ""},
      {"http://localhost:8001/", false, "localhost", 8001, ""},
      {"https://rancher/k8s/clusters/c-1/", true, "rancher", 443, "/k8s/clusters/c-1"},
      {"https://[::1]:6443/x", true, "::1", 6443, "/x"},
      {"https://[fd00::1]", true, "fd00::1", 443, ""},
  }));
  CAPTURE(c.url);
  const auto endpoint = parse_server_url(c.url);
  REQUIRE(endpoint.has_value());
  CHECK(endpoint->tls == c.tls);
  CHECK(endpoint->host == c.host);
  CHECK(endpoint->port == c.port);
  CHECK(endpoint->path_prefix == c.prefix);
}

TEST_CASE("server URL: refused with what is wrong") {
  struct Case {
    std::string url;
    std::string want;
  };
  const auto c = GENERATE(values<Case>({
      {"", "must begin with https:// or http://"},
      {"10.0.0.1:6443", "must begin with https:// or http://"},
      {"ftp://host", "must begin with https:// or http://"},
      {"https://", "must name a host"},
      {"https://:6443", "must name a host"},
      {"https://host:", "must name a host"},
      {"https://host:0", "must name a host"},
      {"https://host:65536", "must name a host"},
      {"https://host:6443x", "must name a host"},
      {"https://[::1", "must name a host"},
      {"https://[::1]6443", "must name a host"},
      {"https://fd00::1", "must name a host"},
      {"https://me:secret@host", "neither user info"},
      {"https://host/?a=b", "neither user info nor a query"},
      {"https://host/#a", "neither user info"},
      {"https://ho st", "contains a space"},
      {"https://host\r\nX: y", "contains a space"},
  }));
  CAPTURE(c.url);
  const auto endpoint = parse_server_url(c.url);
  REQUIRE_FALSE(endpoint.has_value());
  CHECK(endpoint.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(endpoint.error().message, Catch::Contains(c.want));
}
