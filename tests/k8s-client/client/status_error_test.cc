#include "k8s-client/status_error.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;

struct StatusCase {
  const char* name;
  Response response;
  std::string message;
  std::string reason;
  std::optional<std::chrono::seconds> retry_after;
};

// A message of 3 MB.
std::string repeated(const std::string& text) {
  std::string all;
  for (int i = 0; i < 125'000; ++i) all += text;
  return all;
}

TEST_CASE("an answer outside 2xx becomes an error in the server's words", "[client]") {
  const std::vector<StatusCase> cases = {
      {"a Status",
       {409, {}, R"({"kind":"Status","code":409,"reason":"Conflict","message":"no"})"},
       "409 Conflict: no",
       "Conflict",
       {}},
      {"a Status without a message",
       {403, {}, R"({"kind":"Status","code":403,"reason":"Forbidden"})"},
       "403 Forbidden: Forbidden",
       "Forbidden",
       {}},
      {"Retry-After in the header",
       {429, {{"retry-after", "3"}}, R"({"kind":"Status","reason":"TooManyRequests"})"},
       "429 Too Many Requests: TooManyRequests",
       "TooManyRequests",
       3s},
      {"Retry-After in the Status",
       {503, {}, R"({"kind":"Status","message":"m","details":{"retryAfterSeconds":4}})"},
       "503 Service Unavailable: m",
       "",
       4s},
      {"Retry-After as a date is not understood",
       {503, {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}}, ""},
       "503 Service Unavailable",
       "",
       {}},
      {"negative", {503, {{"Retry-After", "-1"}}, ""}, "503 Service Unavailable", "", {}},
      {"beyond all reason is cut",
       {503, {{"Retry-After", "86400"}}, ""},
       "503 Service Unavailable",
       "",
       300s},
      {"a proxy's page is quoted in part",
       {502, {}, "<html>" + std::string(500, 'x')},
       "502 Bad Gateway: <html>" + std::string(194, 'x'),
       "",
       {}},
      {"a token that a proxy shows is left out",
       {401, {}, R"({"authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.e30"} bearer token expired)"},
       R"(401 Unauthorized: {"authorization": "Bearer "} bearer token expired)",
       "",
       {}},
      {"tokens without end, as a webhook may write them",
       {500,
        {},
        R"({"kind":"Status","message":")" + repeated("bearer 0123456789abcdef,") + R"("})"},
       "500 Internal Server Error: " + repeated("bearer ,"),
       "",
       {}},
      {"on one line",
       {404, {}, "404 page\r\nnot found\n"},
       "404 Not Found: 404 page  not found",
       "",
       {}},
      {"a status without a name", {418, {}, ""}, "418", "", {}},
  };
  for (const StatusCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Decoder decoder;
      const Error error = status_error(c.response, decoder);
      CHECK(error.kind == ErrorKind::kStatus);
      CHECK(error.http_status == c.response.status);
      CHECK(error.message == c.message);
      CHECK(error.reason == c.reason);
      CHECK(error.retry_after == c.retry_after);
      CHECK(error.may_have_acted == (c.response.status >= 500));
    }
  }
}

}  // namespace
}  // namespace k8s
