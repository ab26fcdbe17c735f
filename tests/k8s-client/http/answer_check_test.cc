// How large a header http_client's answers may have.
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
