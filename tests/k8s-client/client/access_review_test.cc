#include "k8s-client/access_review.h"

#include "k8s-client/client.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace k8s {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

const UserInfo kPrometheus{.username = "system:serviceaccount:monitoring:prometheus",
                           .uid = "u-1",
                           .groups = {"system:serviceaccounts", "system:authenticated"},
                           .extra = {{"authentication.kubernetes.io/credential-id", {"JTI=1"}}}};

template <typename T>
std::string text_of(const Result<T>& result) {
  return result ? "an answer" : result.error().message;
}

}  // namespace

TEST_CASE("whose token it is", "[client]") {
  tests::ManualLoop loop;
  tests::FakeTransport transport(loop);
  Client client(transport, loop);
  std::optional<Result<TokenStatus>> got;
  client.review_token("secret", 4s, [&](Result<TokenStatus> status) { got = std::move(status); });
  const auto call = transport.next();
  CHECK(call->request().method == Method::kPost);
  CHECK(call->request().target == "/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK(call->request().deadline == 4s);
  CHECK(Json::parse(call->request().body) ==
        Json::parse(R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
                        "spec": {"token": "secret"}})"));
  call->respond(201,
                R"({"kind": "TokenReview", "status": {"authenticated": true, "audiences": ["a"],
      "user": {"username": "system:serviceaccount:monitoring:prometheus", "uid": "u-1",
               "groups": ["system:serviceaccounts", "system:authenticated"],
               "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]}}}})");
  loop.run_ready();
  REQUIRE(got);
  REQUIRE(*got);
  CHECK(**got == TokenStatus{.authenticated = true, .user = kPrometheus});
}

TEST_CASE("whether somebody may", "[client]") {
  tests::ManualLoop loop;
  tests::FakeTransport transport(loop);
  Client client(transport, loop);
  std::optional<Result<bool>> got;
  client.review_access(kPrometheus, NonResourceAccess{.path = "/metrics", .verb = "get"}, 4s,
                       [&](Result<bool> allowed) { got = std::move(allowed); });
  const auto call = transport.next();
  CHECK(call->request().method == Method::kPost);
  CHECK(call->request().target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  CHECK(Json::parse(call->request().body) ==
        Json::parse(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "system:serviceaccount:monitoring:prometheus", "uid": "u-1",
                     "groups": ["system:serviceaccounts", "system:authenticated"],
                     "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]},
                     "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}})"));
  call->respond(500, "no");
  loop.run_ready();
  REQUIRE(got);
  CHECK_THAT(text_of(*got), Catch::StartsWith("\"system:serviceaccount:monitoring:prometheus\" may "
                                              "get \"/metrics\": review: 500 "));
}

TEST_CASE("whether somebody may see one object", "[client]") {
  const Access access =
      ResourceAccess{.verb = "get", .resource = "pods", .namespace_ = "ml", .name = "train-0"};
  CHECK(to_string(access) == "get pods \"ml/train-0\"");
  CHECK(Json::parse(subject_access_review({.username = "ada"}, access)) ==
        Json::parse(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "ada", "uid": "", "groups": [], "extra": {},
                     "resourceAttributes": {"verb": "get", "group": "", "resource": "pods",
                                            "namespace": "ml", "name": "train-0"}}})"));
}

TEST_CASE("whether somebody may see all objects of a kind", "[client]") {
  const Access in_namespace = ResourceAccess{.verb = "get", .resource = "pods", .namespace_ = "ml"};
  CHECK(to_string(in_namespace) == "get pods in \"ml\"");
  const Access everywhere = ResourceAccess{.verb = "list", .resource = "nodes"};
  CHECK(to_string(everywhere) == "list nodes");
  CHECK(Json::parse(subject_access_review({}, everywhere))["spec"]["resourceAttributes"] ==
        Json::parse(R"({"verb": "list", "group": "", "resource": "nodes", "namespace": "",
                        "name": ""})"));
}

TEST_CASE("what is no review is an error, and shows nothing of what came", "[client]") {
  for (const char* body :
       {"", "secret", "[]", "{}", R"({"status": "secret"})", R"({"status": {"allowed": "secret"}})",
        R"({"status": {"authenticated": "secret"}})", R"({"status": {"authenticated": true}})",
        R"({"status": {"authenticated": true, "user": {"username": 5}}})"}) {
    CAPTURE(body);
    if (std::string_view(body).find("allowed") == std::string_view::npos) {
      CHECK(text_of(token_status_of(body)) == "the answer is no TokenReview");
    }
    CHECK(text_of(is_allowed_of(body)) == "the answer is no SubjectAccessReview");
  }
  CHECK(is_allowed_of(R"({"status": {"allowed": true}})").value());
  CHECK_FALSE(is_allowed_of(R"({"status": {"allowed": false}})").value());
  CHECK_FALSE(is_allowed_of(R"({"status": {"allowed": true, "denied": true}})").value());
  CHECK(token_status_of(R"({"status": {}})").value() == TokenStatus{});
}

}  // namespace k8s
