#include "k8s-client/access_review.h"

#include "k8s-client/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace k8s {
namespace {

using Json = nlohmann::json;

template <typename T>
void read_if_there(const Json& object, const char* key, T& into) {
  if (const auto found = object.find(key); found != object.end() && !found->is_null()) {
    found->get_to(into);
  }
}

// Reads the status of an answer. `read` may throw nlohmann's exceptions; their texts, which quote
// the answer, are not used.
template <typename T, typename Read>
Result<T> status_of(const std::string& body, const char* what, Read read) {
  try {
    const Json status = Json::parse(body).at("status");
    if (status.is_object()) return read(status);
  } catch (const Json::exception&) {  // as below
  }
  return decode_error(std::string("the answer is no ") + what);
}

}  // namespace

std::string token_review(const std::string& token) {
  return json_text(Json{{"apiVersion", "authentication.k8s.io/v1"},
                        {"kind", "TokenReview"},
                        {"spec", {{"token", token}}}});
}

std::string to_string(const Access& access) {
  if (const auto* path = std::get_if<NonResourceAccess>(&access)) {
    return fmt::format("{} \"{}\"", path->verb, path->path);
  }
  const auto& object = std::get<ResourceAccess>(access);
  if (object.name.empty() && object.namespace_.empty()) {
    return fmt::format("{} {}", object.verb, object.resource);
  }
  if (object.name.empty()) {
    return fmt::format("{} {} in \"{}\"", object.verb, object.resource, object.namespace_);
  }
  return fmt::format("{} {} \"{}/{}\"", object.verb, object.resource, object.namespace_,
                     object.name);
}

std::string subject_access_review(const UserInfo& user, const Access& access) {
  Json spec = {
      {"user", user.username}, {"uid", user.uid}, {"groups", user.groups}, {"extra", user.extra}};
  if (const auto* path = std::get_if<NonResourceAccess>(&access)) {
    spec["nonResourceAttributes"] = {{"path", path->path}, {"verb", path->verb}};
  } else {
    const auto& object = std::get<ResourceAccess>(access);
    spec["resourceAttributes"] = {{"verb", object.verb},
                                  {"group", object.group},
                                  {"resource", object.resource},
                                  {"namespace", object.namespace_},
                                  {"name", object.name}};
  }
  return json_text(Json{{"apiVersion", "authorization.k8s.io/v1"},
                        {"kind", "SubjectAccessReview"},
                        {"spec", std::move(spec)}});
}

Result<TokenStatus> token_status_of(const std::string& body) {
  return status_of<TokenStatus>(body, "TokenReview", [](const Json& status) {
    TokenStatus read;
    read_if_there(status, "authenticated", read.authenticated);
    if (!read.authenticated) return read;
    const Json& user = status.at("user");
    user.at("username").get_to(read.user.username);
    read_if_there(user, "uid", read.user.uid);
    read_if_there(user, "groups", read.user.groups);
    read_if_there(user, "extra", read.user.extra);
    return read;
  });
}

Result<bool> is_allowed_of(const std::string& body) {
  return status_of<bool>(body, "SubjectAccessReview", [](const Json& status) {
    bool denied = false;
    read_if_there(status, "denied", denied);
    return status.at("allowed").get<bool>() && !denied;
  });
}

}  // namespace k8s
