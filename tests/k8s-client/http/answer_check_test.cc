// Which of http_client's answers are refused.
#include "k8s-client/http/cpprest/answer_check.h"

#include "tests/support/catch.h"

#include <string>

TEST_CASE("a header may be 64 KiB large, as the other transport's") {
  const std::string name = "X-Large";
  for (const bool too_large : {false, true}) {
    k8s::Response head;
    head.status = 200;
    const std::size_t size = 64 * 1024 - name.size() + (too_large ? 1 : 0);
    head.headers.emplace_back(name, std::string(size, 'x'));
    CHECK(k8s::http::answer_problem(head, {1, 1}).has_value() == too_large);
  }
}

TEST_CASE("a status has three digits, and is the last of its answer") {
  struct Case {
    int status;
    bool is_one;
  };
  for (const Case& each : {Case{199, false}, {200, true}, {999, true}, {1000, false}}) {
    CAPTURE(each.status);
    k8s::Response head;
    head.status = each.status;
    CHECK(k8s::http::answer_problem(head, {1, 1}).has_value() != each.is_one);
  }
}
