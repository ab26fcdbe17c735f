#include "scheduler/live/writes/bind_answer.h"

#include "k8s-client/status_error.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using sched::live::bind_answer;
using sched::live::BindAnswer;

k8s::Error answered(int code, const std::string& message) {
  return k8s::with_context(
      k8s::status_error(k8s::Status{.code = code, .reason = {}, .message = message}),
      R"(pods "ml/a": bind to "n1")");
}

k8s::Error without_answer(k8s::ErrorKind kind, bool may_have_acted) {
  k8s::Error error = k8s::make_error(kind, "broken");
  error.may_have_acted = may_have_acted;
  return error;
}

// As the API server words a conflict. Source: apimachinery, errors.NewConflict.
std::string conflict_since(const std::string& why) {
  return R"(Operation cannot be fulfilled on pods/binding "a": )" + why;
}

}  // namespace

TEST_CASE("what an answer to a bind says of the bind") {
  struct Case {
    std::string name;
    k8s::Error error;
    BindAnswer want;
  };
  const std::vector<Case> cases{
      {"bound already", answered(409, conflict_since(R"(pod a is already assigned to node "n2")")),
       BindAnswer::kConflict},
      {"being deleted",
       answered(409, conflict_since("pod a is being deleted, cannot be assigned to a host")),
       BindAnswer::kConflict},
      {"gated", answered(409, conflict_since("pod a has non-empty .spec.schedulingGates")),
       BindAnswer::kConflict},
      {"another uid",
       answered(409, R"(Operation cannot be fulfilled on pods "a": StorageError: invalid object, )"
                     "Code: 4, Key: /pods/ml/a, ResourceVersion: 0, AdditionalErrorMsg: "
                     "Precondition failed: UID in precondition: u-1, UID in object meta: u-2"),
       BindAnswer::kConflict},
      {"etcd's leader changed", answered(409, conflict_since("etcdserver: leader changed")),
       BindAnswer::kUnknown},
      {"etcd timed out", answered(409, conflict_since("etcdserver: request timed out")),
       BindAnswer::kUnknown},
      {"the connection to etcd broke",
       answered(409, conflict_since(
                         "rpc error: code = Unavailable desc = error reading from server: "
                         "read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer")),
       BindAnswer::kUnknown},
      {"the server's own deadline", answered(409, conflict_since("context deadline exceeded")),
       BindAnswer::kUnknown},
      {"others keep writing",
       answered(409, R"(Operation cannot be fulfilled on pods "a": the object has been modified; )"
                     "please apply your changes to the latest version and try again"),
       BindAnswer::kUnknown},
      {"no words", answered(409, ""), BindAnswer::kUnknown},
      {"a webhook that is down",
       answered(500, "Internal error occurred: failed calling webhook \"team.example.com\""),
       BindAnswer::kUnknown},
      {"etcd's time-out", answered(504, "etcdserver: request timed out"), BindAnswer::kUnknown},
      {"no time left", answered(408, ""), BindAnswer::kUnknown},
      {"busy, or from something before the server", answered(503, ""), BindAnswer::kUnknown},
      {"too many requests", answered(429, ""), BindAnswer::kLater},
      {"forbidden", answered(403, ""), BindAnswer::kRefused},
      {"forbidden by admission",
       answered(403, R"(pods "a" is forbidden: node "n1" is not for namespace "ml")"),
       BindAnswer::kRefused},
      {"forbidden by the authorizer",
       answered(
           403,
           R"(pods "a" is forbidden: User "system:serviceaccount:gpu-scheduler:gpu-scheduler" )"
           R"(cannot create resource "pods/binding" in API group "" in the namespace "ml")"),
       BindAnswer::kNotAllowed},
      {"a token that is not known", answered(401, "Unauthorized"), BindAnswer::kNotAllowed},
      {"gone", answered(404, ""), BindAnswer::kRefused},
      {"no answer", without_answer(k8s::ErrorKind::kTimeout, true), BindAnswer::kUnknown},
      {"never sent", without_answer(k8s::ErrorKind::kConnect, false), BindAnswer::kRefused},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(bind_answer(c.error) == c.want);
  }
}
