#include "tests/k8s-client/watch/watch_script.h"

#include "tests/support/catch.h"

#include <optional>
#include <utility>

namespace tests {
namespace {

// The number itself is random; that it is in range is what matters.
std::string with_timeout_hidden(std::string target) {
  const std::string key = "timeoutSeconds=";
  const std::size_t at = target.find(key);
  if (at == std::string::npos) return target;
  const int seconds = std::stoi(target.substr(at + key.size()));
  if (seconds < 240 || seconds > 290) return target;
  return target.replace(at + key.size(), 3, "T");
}

std::string text_of(const k8s::Pod& pod) {
  return pod.metadata.name + "/" + pod.metadata.uid + "@" + pod.metadata.resource_version;
}

}  // namespace

std::string pod_json(const std::string& name, const std::string& uid, int version) {
  return R"({"metadata":{"namespace":"ml","name":")" + name + R"(","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}

std::string event_line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string bookmark_line(int version, bool initial_events_end) {
  const std::string annotations =
      initial_events_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return event_line("BOOKMARK",
                    R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":")" +
                        std::to_string(version) + "\"" + annotations + "}}");
}

std::string error_line(int code, const std::string& reason, const std::string& message,
                       int retry_after) {
  std::string status = status_body(code, reason, message);
  if (retry_after != 0) {
    status.pop_back();
    status += R"(,"details":{"retryAfterSeconds":)" + std::to_string(retry_after) + "}}";
  }
  return event_line("ERROR", status);
}

std::string list_body(int version, const std::string& continue_token,
                      const std::vector<std::string>& items) {
  std::string body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     std::to_string(version) + "\"";
  if (!continue_token.empty()) body += R"(,"continue":")" + continue_token + "\"";
  body += R"(},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) body += (i == 0 ? "" : ",") + items[i];
  return body + "]}";
}

std::string status_body(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":")" + message + R"("})";
}

std::string list_request(const std::string& version) {
  if (version.empty()) return "> /api/v1/pods?limit=2";
  return "> /api/v1/pods?limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=" + version;
}

std::string page_request(const std::string& continue_token) {
  return "> /api/v1/pods?limit=2&continue=" + continue_token;
}

std::string full_list_request() { return "> /api/v1/pods"; }

k8s::ReflectorOptions paged() {
  k8s::ReflectorOptions options;
  options.watch_list = false;
  return options;
}

std::string watch_request(const std::string& version) {
  return "> /api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=T&resourceVersion=" +
         version;
}

std::string stream_request(const std::string& version) {
  const std::string request =
      "> /api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=T&sendInitialEvents=true"
      "&resourceVersionMatch=NotOlderThan";
  return version.empty() ? request : request + "&resourceVersion=" + version;
}

WatchScript::WatchScript(k8s::ReflectorOptions options) : transport_(loop_) {
  options.page_size = 2;
  k8s::ReflectorHandler<k8s::Pod> handler;
  handler.on_upsert = [this](const k8s::Pod& pod) { log_.push_back("+ " + text_of(pod)); };
  handler.on_delete = [this](const k8s::ObjectKey& key) {
    log_.push_back("- " + key.name + "/" + key.uid);
  };
  handler.on_synced = [this] { log_.push_back("synced"); };
  handler.on_presence = [this](bool present) { presence_.push_back(present); };
  handler.on_problem = [this](const k8s::Error& error, std::chrono::milliseconds retry_in) {
    last_delay_ = retry_in;
    log_.push_back("! " + error.message + (retry_in.count() == 0 ? ", again at once" : ""));
  };
  handler.on_recovered = [this] { ++recoveries_; };
  handler.on_unreadable = [this](const k8s::Error& error) { log_.push_back("? " + error.message); };
  handler.stand_in = [](k8s::Pod partial) -> std::optional<k8s::Pod> {
    if (partial.spec.node_name.empty()) return std::nullopt;
    return partial;
  };
  reflector_ = std::make_unique<k8s::Reflector<k8s::Pod>>(
      transport_, loop_,
      k8s::ResourcePath{.path = "/api/v1/pods", .field_selector = "", .label_selector = ""},
      std::move(handler), options,
      [this](std::string_view verb, int status, std::chrono::nanoseconds) {
        observed_.push_back(std::string(verb) + " " + std::to_string(status));
      });
}

void WatchScript::start() {
  reflector_->start();
  take_requests();
}

void WatchScript::take_requests() {
  loop_.run_ready();
  while (transport_.has_next()) {
    call_ = transport_.next();
    log_.push_back("> " + with_timeout_hidden(call_->request().target));
  }
}

void WatchScript::page(int version, const std::string& continue_token,
                       const std::vector<std::string>& items) {
  call_->respond(200, list_body(version, continue_token, items));
  take_requests();
}

void WatchScript::refuse(int code, const std::string& reason, const std::string& message,
                         k8s::Headers headers) {
  call_->respond(code, status_body(code, reason, message), std::move(headers));
  take_requests();
}

void WatchScript::answer(const std::string& body) {
  call_->respond(200, body);
  take_requests();
}

void WatchScript::open(k8s::Headers headers) {
  call_->open(200, std::move(headers));
  take_requests();
}

void WatchScript::send(const std::string& text) {
  call_->send(text);
  take_requests();
}

void WatchScript::end() {
  call_->end();
  take_requests();
}

void WatchScript::break_off(k8s::ErrorKind kind) {
  call_->fail(kind, "broke");
  take_requests();
}

void run(const std::vector<WatchCase>& cases, const k8s::ReflectorOptions& options) {
  for (const WatchCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      WatchScript script(options);
      script.start();
      c.play(script);
      CHECK(script.log() == c.want);
    }
  }
}

void watch_one_pod(WatchScript& script, const k8s::Headers& headers) {
  script.page(5, "", {pod_json("a", "1", 3)});
  script.open(headers);
}

std::vector<std::string> after_one_pod(const std::vector<std::string>& rest) {
  std::vector<std::string> log = {list_request(), "+ a/1@3", "synced", watch_request("5")};
  log.insert(log.end(), rest.begin(), rest.end());
  return log;
}

}  // namespace tests
