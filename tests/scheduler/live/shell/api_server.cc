#include "tests/scheduler/live/shell/api_server.h"

#include "k8s-client/auth/file_credentials.h"
#include "tests/support/request_body.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace tests {
namespace {

using Json = ApiServer::Json;

constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kClaims = "/api/v1/persistentvolumeclaims";
constexpr const char* kVolumes = "/api/v1/persistentvolumes";
constexpr const char* kBudgets = "/apis/policy/v1/poddisruptionbudgets";
constexpr const char* kStorageClasses = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* kQuotas = "/apis/gpu-scheduler.io/v1alpha1/gpuquotas";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/leases";
constexpr const char* kConfigMaps = "/api/v1/configmaps";
constexpr std::string_view kBinding = "/binding";

// "/api/v1/pods" and "ml/a" → "/api/v1/namespaces/ml/pods/a".
std::string path_of(const std::string& list, const Json& object) {
  const Json& metadata = object.at("metadata");
  const std::string name = metadata.at("name");
  if (!metadata.contains("namespace")) return list + "/" + name;
  const auto kind = list.rfind('/');
  return list.substr(0, kind) + "/namespaces/" + metadata.at("namespace").get<std::string>() +
         list.substr(kind) + "/" + name;
}

// The other way round, of the path of an object or of the list of one namespace.
std::string list_in_all_namespaces(const std::string& path) {
  for (const char* list : {kLeases, kConfigMaps}) {
    const std::string_view kind = std::string_view(list).substr(std::string_view(list).rfind('/'));
    if (path.ends_with(kind)) return list;
  }
  return {};
}

std::string json_answer(int status, const Json& body) {
  return answer(status, "Content-Type: application/json\r\n", body.dump());
}

std::string refusal(int status) {
  const char* reason = status == 404 ? "NotFound" : "";
  return json_answer(status,
                     {{"kind", "Status"}, {"code", status}, {"reason", reason}, {"message", "no"}});
}

// Of a watch.
std::string line_of(const std::string& type, const Json& object) {
  return Json{{"type", type}, {"object", object}}.dump() + "\n";
}

std::string chunk(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

Json body_of(const ReceivedRequest& request) {
  if (request.body.empty()) return {};
  const bool is_json = request.header("content-type").find("json") != std::string::npos;
  return is_json ? Json::parse(request.body) : json_of_protobuf(request.body);
}

}  // namespace

ApiServer::ApiServer(std::function<void()> changed)
    : changed_(std::move(changed)),
      lists_{kPods, kNodes, kClaims, kVolumes, kBudgets, "/api/v1/namespaces"},
      server_({.identity = authority_.issue_server()},
              [this](ServerConnection& connection) { serve(connection); }) {}

k8s::ClusterAccess ApiServer::access() const {
  k8s::auth::CredentialSources sources;
  sources.ca.inline_text = authority_.pem();
  sources.token = "shell";
  k8s::ClusterAccess access;
  access.endpoint.host = "127.0.0.1";
  access.endpoint.port = server_.port();
  access.credentials = std::make_unique<k8s::auth::FileCredentials>(
      sources, [] { return std::chrono::steady_clock::now(); });
  access.description = "the test's";
  return access;
}

void ApiServer::has(const k8s::Node& node) { put(kNodes, Json::parse(k8s::encode(node))); }
void ApiServer::has(const k8s::Pod& pod) { put(kPods, Json::parse(k8s::encode(pod))); }
void ApiServer::has(const k8s::PersistentVolumeClaim& claim) {
  put(kClaims, Json::parse(k8s::encode(claim)));
}
void ApiServer::has(const k8s::PersistentVolume& volume) {
  put(kVolumes, Json::parse(k8s::encode(volume)));
}
void ApiServer::has(const k8s::StorageClass& storage_class) {
  put(kStorageClasses, Json::parse(k8s::encode(storage_class)));
}
void ApiServer::has(const k8s::GpuQuota& quota) { put(kQuotas, Json::parse(k8s::encode(quota))); }
void ApiServer::has(const k8s::Lease& lease) { put(kLeases, Json::parse(k8s::encode(lease))); }
void ApiServer::has(const k8s::ConfigMap& map) { put(kConfigMaps, Json::parse(k8s::encode(map))); }
void ApiServer::has_pod(Json pod) { put(kPods, std::move(pod)); }
void ApiServer::gone(const k8s::Pod& pod) { put(kPods, Json::parse(k8s::encode(pod)), "DELETED"); }

void ApiServer::put(const std::string& list, Json object, const std::string& type) {
  const std::lock_guard lock(mutex_);
  store(list, std::move(object), type);
}

ApiServer::Json ApiServer::store(const std::string& list, Json object, const std::string& type) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const std::string path = path_of(list, object);
  lists_.insert(list);
  last_->path = list;
  last_->line = line_of(type, object);
  if (type == "DELETED") {
    objects_.erase(path);
  } else {
    objects_[path] = object;
    list_of_[path] = list;
  }
  last_->next = std::make_shared<Change>();
  const std::shared_ptr<Change> change = std::exchange(last_, last_->next);
  change->happened.open();
  return object;
}

void ApiServer::answer_first(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_first_ = std::move(answer);
}

std::vector<ApiServer::Write> ApiServer::writes() const {
  const std::lock_guard lock(mutex_);
  return writes_;
}

void ApiServer::serve(ServerConnection& connection) {
  if (!connection.handshake()) return;
  while (const auto request = connection.read_request()) {
    const std::string path = request->target.substr(0, request->target.find('?'));
    const auto says = [&](const char* words) {
      return request->target.find(words) != std::string::npos;
    };
    bool is_known = false;
    {
      const std::lock_guard lock(mutex_);
      is_known = lists_.contains(path);
    }
    if (is_known && says("watch=1")) {
      return watch(connection, says("phase%3DFailed") ? "failed" : path,
                   says("sendInitialEvents=true"));
    }
    if (!connection.send(answer(*request))) return;
  }
}

void ApiServer::watch(ServerConnection& connection, const std::string& path, bool with_all) {
  std::string text;
  std::shared_ptr<Change> next;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [of, object] : objects_) {
      if (with_all && list_of_[of] == path) text += line_of("ADDED", object);
    }
    const Json end = {{"k8s.io/initial-events-end", "true"}};
    const Json metadata = {{"resourceVersion", std::to_string(version_)}, {"annotations", end}};
    if (with_all) text += line_of("BOOKMARK", {{"metadata", metadata}});
    next = last_;
  }
  bool goes_on = connection.send(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  if (!text.empty()) goes_on = goes_on && connection.send(chunk(text));
  while (goes_on && connection.wait(next->happened)) {
    if (next->path == path) goes_on = connection.send(chunk(next->line));
    next = next->next;
  }
}

std::string ApiServer::answer(const ReceivedRequest& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool reviews = path.ends_with("reviews");
  const bool writes = request.method != "GET" && !reviews;
  Answer first;
  {
    const std::lock_guard lock(mutex_);
    first = answer_first_;
    if (writes) writes_.push_back({request.method, path, body_of(request)});
  }
  if (writes) changed_();
  if (first) {
    if (auto given = first(request)) return *std::move(given);
  }
  if (path.ends_with("/tokenreviews")) {
    return json_answer(
        201, {{"status", {{"authenticated", true}, {"user", {{"username", "somebody"}}}}}});
  }
  if (reviews) return json_answer(201, {{"status", {{"allowed", true}}}});
  return request.method == "GET" ? get(path) : write(request, path);
}

std::string ApiServer::get(const std::string& path) {
  if (path == "/version") return json_answer(200, {{"gitVersion", "v1.99.0"}});
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(path);
  return found == objects_.end() ? refusal(404) : json_answer(200, found->second);
}

std::string ApiServer::write(const ReceivedRequest& request, const std::string& path) {
  const Json body = body_of(request);
  const bool creates = request.method == "POST";
  if (creates && path.ends_with(kBinding)) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path.substr(0, path.size() - kBinding.size()));
    if (found == objects_.end()) return refusal(404);
    Json pod = found->second;
    pod["spec"]["nodeName"] = body.at("target").at("name");
    store(kPods, std::move(pod), "MODIFIED");
    return json_answer(201, {{"kind", "Status"}, {"status", "Success"}});
  }
  const bool updates = request.method == "PUT";
  const std::string list = list_in_all_namespaces(updates ? path.substr(0, path.rfind('/')) : path);
  if (list.empty() || (!creates && !updates)) return json_answer(200, {{"kind", "Status"}});
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(path_of(list, body));
  const bool is_there = found != objects_.end();
  if (updates && !is_there) return refusal(404);
  if (creates && is_there) return refusal(409);
  const Json& metadata = body.at("metadata");
  if (updates && metadata.at("resourceVersion") != found->second["metadata"]["resourceVersion"]) {
    return refusal(409);
  }
  return json_answer(200, store(list, body, "ADDED"));
}

}  // namespace tests
