// TokenReview and SubjectAccessReview: which account a token belongs to, and what an account may
// do. For servers that leave both to the API server ("delegated" authentication and authorization).
//
// Source: Kubernetes authentication.k8s.io/v1 and authorization.k8s.io/v1.
#pragma once

#include "k8s-client/error.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace k8s {

// authentication.k8s.io UserInfo.
struct UserInfo {
  std::string username = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

// The status of a TokenReview.
struct TokenStatus {
  bool authenticated = false;
  UserInfo user = {};  // only if authenticated
  friend bool operator==(const TokenStatus&, const TokenStatus&) = default;
};

// A request for something that is not a resource: a path of a server, and the HTTP method in lower
// case.
struct NonResourceAccess {
  std::string path;
  std::string verb;
  friend bool operator==(const NonResourceAccess&, const NonResourceAccess&) = default;
};

// A request for one object of a namespace; without a name: for all of that kind there; without a
// namespace as well: for all of the cluster.
struct ResourceAccess {
  std::string verb;
  std::string group = {};  // empty: the core group
  std::string resource;    // the plural: "pods"
  std::string namespace_ = {};
  std::string name = {};
  friend bool operator==(const ResourceAccess&, const ResourceAccess&) = default;
};

using Access = std::variant<NonResourceAccess, ResourceAccess>;

// "get \"/metrics\"", "get pods \"ml/train-0\"", "get pods in \"ml\"", "list nodes".
[[nodiscard]] std::string to_string(const Access& access);

// The bodies of the two requests.
[[nodiscard]] std::string token_review(const std::string& token);
[[nodiscard]] std::string subject_access_review(const UserInfo& user, const Access& access);
// The contents of the answers; kDecode if an answer is malformed.
[[nodiscard]] Result<TokenStatus> token_status_of(const std::string& body);
[[nodiscard]] Result<bool> is_allowed_of(const std::string& body);

}  // namespace k8s
