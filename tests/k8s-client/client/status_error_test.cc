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

TEST_CASE("statuses that are frequent have their names", "[client]") {
  struct Case {
    int status;
    const char* name;
  };
  for (const Case& each :
       {Case{400, "Bad Request"}, Case{401, "Unauthorized"}, Case{403, "Forbidden"},
        Case{404, "Not Found"}, Case{405, "Method Not Allowed"}, Case{406, "Not Acceptable"},
        Case{409, "Conflict"}, Case{410, "Gone"}, Case{413, "Request Entity Too Large"},
        Case{415, "Unsupported Media Type"}, Case{422, "Unprocessable Entity"},
        Case{429, "Too Many Requests"}, Case{500, "Internal Server Error"},
        Case{502, "Bad Gateway"}, Case{503, "Service Unavailable"}, Case{504, "Gateway Timeout"}}) {
    const Error error = status_error(Status{.code = each.status, .reason = {}, .message = "m"});
    CHECK(error.message == std::to_string(each.status) + " " + each.name + ": m");
  }
  CHECK(status_error(Status{.code = 408, .reason = {}, .message = {}}).may_have_acted);
  CHECK_FALSE(status_error(Status{.code = 499, .reason = {}, .message = {}}).may_have_acted);
}

TEST_CASE("what is as long as a token behind the word Bearer is left out", "[client]") {
  const auto told = [](const std::string& message) {
    return status_error(Status{.code = 418, .reason = {}, .message = message}).message;
  };
  const std::string token(16, 't');
  CHECK(told("bearer " + token.substr(1)) == "418: bearer " + token.substr(1));
  for (const char* blanks : {" ", "\t", ":", "\"", ": \""}) {
    for (const char* end : {"", " x", "\"x", "<x", ",x", "\nx"}) {
      CHECK(told(std::string("a BEARER") + blanks + token + end) ==
            std::string("418: a BEARER") + blanks + end);
    }
  }
  CHECK(told("bearer") == "418: bearer");
}

TEST_CASE("a body that is no Status is quoted on one line, and pauses are those that it names",
          "[client]") {
  Decoder decoder;
  CHECK(status_error(Response{418, {}, "a\x7f\x1f b  \n"}, decoder).message == "418: a   b");
  CHECK(status_error(Response{418, {}, " \n"}, decoder).message == "418");
  CHECK(status_error(Response{503, {{"Retry-After", "0"}}, ""}, decoder).retry_after == 0s);
  CHECK(status_error(Response{503, {}, R"({"kind":"Status","details":{"retryAfterSeconds":0}})"},
                     decoder)
            .retry_after == std::nullopt);
  CHECK(status_error(Response{503, {}, R"({"kind":"Status","details":{"retryAfterSeconds":301}})"},
                     decoder)
            .retry_after == 300s);
}

}  // namespace
}  // namespace k8s
