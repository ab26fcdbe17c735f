// Which requests are sent at all.
#include "k8s-client/http/pooled/request_check.h"

#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <vector>

using k8s::Method;
using k8s::Request;

TEST_CASE("a request with characters that could end a line, or with a header of the transport's") {
  struct Case {
    std::string name;
    std::string value;
    bool may_be;
  };
  const std::vector<Case> headers = {{"X-own_1.a", "a b\tc", true},
                                     {"x", "", true},
                                     {"", "a", false},
                                     {"a b", "a", false},
                                     {"a", "b\x7f", false},
                                     {"a", "b\x1f", false},
                                     {"a", "~", true},
                                     {"a", "!", true},
                                     {"Host", "a", false},
                                     {"User-Agent", "a", false},
                                     {"Content-Type", "a", false},
                                     {"CONNECTION", "a", false},
                                     {"Content-Length", "1", false},
                                     {"Accept", "a", true}};
  for (const Case& each : headers) {
    INFO(each.name << ": " << each.value);
    Request request;
    request.target = "/";
    request.headers = {{each.name, each.value}};
    CHECK(k8s::http::check_request(request).has_value() != each.may_be);
  }
  Request request;
  request.target = "/\x7f";
  CHECK(k8s::http::check_request(request));
  request.target = "/~";
  CHECK_FALSE(k8s::http::check_request(request));
  CHECK_FALSE(k8s::http::check_token(std::nullopt));
  CHECK_FALSE(k8s::http::check_token("a~!"));
  CHECK(k8s::http::check_token("a b"));
}

TEST_CASE("what the transport adds to a request depends on its headers, method and body") {
  Request request;
  CHECK_FALSE(k8s::http::has_own_accept(request));
  request.headers = {{"X", "accept"}, {"ACCEPT", "a"}};
  CHECK(k8s::http::has_own_accept(request));
  for (const Method method : {Method::kGet, Method::kDelete}) {
    request.method = method;
    request.body.clear();
    CHECK_FALSE(k8s::http::needs_length(request));
    request.body = "{}";
    CHECK(k8s::http::needs_length(request));
  }
  request.body.clear();
  request.method = Method::kPatch;
  CHECK(k8s::http::needs_length(request));
}
