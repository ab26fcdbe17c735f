#include "tests/k8s-client/watch/model_server.h"

#include "tests/k8s-client/watch/watch_script.h"

namespace tests {
namespace {

using Query = std::map<std::string, std::string>;

Query query_of(const std::string& target) {
  Query query;
  std::size_t at = target.find('?');
  while (at != std::string::npos) {
    const std::size_t start = at + 1;
    at = target.find('&', start);
    const std::string pair = target.substr(start, at == std::string::npos ? at : at - start);
    const std::size_t equals = pair.find('=');
    query[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return query;
}

std::string json_of(const std::string& name, const ModelServer::Object& object) {
  return pod_json(name, object.uid, object.version);
}

}  // namespace

int ModelServer::between(int low, int high) {
  return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

ModelServer::Objects ModelServer::state_at(int version) const {
  Objects state;
  for (int i = 0; i < version; ++i) {
    const Change& change = history_[static_cast<std::size_t>(i)];
    if (change.type == "DELETED") {
      state.erase(change.name);
    } else {
      state[change.name] = change.object;
    }
  }
  return state;
}

void ModelServer::record(const std::string& type, const std::string& name, Object object) {
  object.version = version() + 1;
  if (type == "DELETED") {
    objects_.erase(name);
  } else {
    objects_[name] = object;
  }
  history_.push_back({type, name, object});
}

void ModelServer::change_something() {
  const std::string name = "p" + std::to_string(random_() % 12);
  const auto found = objects_.find(name);
  if (found == objects_.end()) {
    record("ADDED", name, {std::to_string(next_uid_++)});
    return;
  }
  const Object object = found->second;
  if (chance(50)) {
    record("MODIFIED", name, object);
    return;
  }
  record("DELETED", name, object);
  if (chance(50)) record("ADDED", name, {std::to_string(next_uid_++)});
}

void ModelServer::refuse(const std::shared_ptr<FakeCall>& call, int code, const std::string& reason,
                         const std::string& message) {
  ++played_[std::to_string(code)];
  call->respond(code, status_body(code, reason, message));
}

bool ModelServer::play_fault(const std::shared_ptr<FakeCall>& call) {
  if (!faults_ || !chance(35)) return false;
  switch (between(0, 5)) {
    case 0:
      ++played_["refused"];
      call->fail(k8s::ErrorKind::kConnect);
      break;
    case 1:
      refuse(call, 429, "TooManyRequests", "busy");
      break;
    case 2:
      refuse(call, 500, "InternalError", "oh");
      break;
    case 3:
      refuse(call, 410, "Expired", "too old");
      break;
    case 4:
      refuse(call, 504, "Timeout", "Too large resource version");
      break;
    default:
      ++played_["garbage"];
      call->respond(200, "{\"kind\":\n");
      break;
  }
  return true;
}

void ModelServer::serve(const std::shared_ptr<FakeCall>& call) {
  if (play_fault(call)) return;
  Query query = query_of(call->request().target);
  if (query["watch"].empty()) {
    list(call, query);
  } else if (query["sendInitialEvents"].empty()) {
    watch(call, std::stoi(query["resourceVersion"]));
  } else if (knows_streamed_lists_) {
    stream_list(call, query["resourceVersion"]);
  } else {
    refuse(call, 422, "Invalid", "sendInitialEvents is forbidden");
  }
}

void ModelServer::list(const std::shared_ptr<FakeCall>& call, const Query& query) {
  const auto value = [&query](const std::string& key) {
    const auto found = query.find(key);
    return found == query.end() ? std::string() : found->second;
  };
  Snapshot snapshot;
  if (const std::string token = value("continue"); !token.empty()) {
    snapshot = tokens_.at(token);
    if (snapshot.version < compacted_) return refuse(call, 410, "Expired", "token");
  } else {
    // A replica may lag, but not behind what was asked for.
    const std::string asked = value("resourceVersion");
    snapshot.version = asked.empty() ? version() : between(std::stoi(asked), version());
  }
  const std::size_t limit = value("limit").empty() ? std::size_t{1000} : std::stoul(value("limit"));
  std::vector<std::string> items;
  std::string token;
  const Objects state = state_at(snapshot.version);
  for (auto at = state.upper_bound(snapshot.after); at != state.end(); ++at) {
    if (items.size() == limit) {
      token = "t" + std::to_string(next_token_++);
      tokens_[token] = {snapshot.version, std::prev(at)->first};
      break;
    }
    items.push_back(json_of(at->first, at->second));
  }
  call->respond(200, list_body(snapshot.version, token, items));
}

void ModelServer::watch(const std::shared_ptr<FakeCall>& call, int from) {
  if (from < compacted_) {
    ++played_["410 at opening"];
    return call->respond(410, status_body(410, "Expired", "too old"));
  }
  call->open();
  watches_.push_back({call, from});
}

void ModelServer::stream_list(const std::shared_ptr<FakeCall>& call,
                              const std::string& not_older_than) {
  const int at = not_older_than.empty() ? version() : between(std::stoi(not_older_than), version());
  call->open();
  std::string text;
  for (const auto& [name, object] : state_at(at)) {
    text += event_line("ADDED", json_of(name, object));
  }
  if (faults_ && chance(30)) {
    ++played_["streamed list broken off"];
    call->send(text.substr(0, random_() % (text.size() + 1)));
    return call->fail(k8s::ErrorKind::kConnection);
  }
  call->send(text + bookmark_line(at, true));
  watches_.push_back({call, at});
}

std::string ModelServer::lines_since(Watch& watch) {
  std::string text;
  const int until = faults_ ? between(watch.sent_up_to, version()) : version();
  for (int i = watch.sent_up_to; i < until; ++i) {
    const Change& change = history_[static_cast<std::size_t>(i)];
    text += event_line(change.type, json_of(change.name, change.object));
  }
  watch.sent_up_to = until;
  if (chance(20)) text += bookmark_line(until);
  return text;
}

void ModelServer::push() {
  std::erase_if(watches_, [](const Watch& watch) { return watch.call->has_ended(); });
  for (Watch& watch : watches_) {
    const std::string text = lines_since(watch);
    const std::size_t cut = text.empty() ? 0 : random_() % text.size();
    watch.call->send(text.substr(0, cut));
    if (faults_ && chance(10)) {
      ++played_["broken within a line"];
      watch.call->fail(k8s::ErrorKind::kConnection);
      continue;
    }
    watch.call->send(text.substr(cut));
    if (!faults_ || !chance(20)) continue;
    switch (between(0, 2)) {
      case 0:
        ++played_["end"];
        watch.call->end();
        break;
      case 1:
        ++played_["410 within"];
        watch.call->send(error_line(410, "Expired", "too old"));
        break;
      default:
        ++played_["unreadable event"];
        watch.call->send("{\"type\":\"ADDED\",\"object\":7}\n");
        break;
    }
  }
}

}  // namespace tests
