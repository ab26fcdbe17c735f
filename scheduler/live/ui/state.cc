#include "scheduler/live/ui/state.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/json_text.h"
#include "scheduler/answers/json.h"
#include "scheduler/answers/overview.h"
#include "scheduler/answers/queue.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace sched::live {

namespace {

using Json = nlohmann::ordered_json;

// Cuts the text after at most so many bytes, never inside a character.
std::string shortened(std::string text, std::size_t at_most) {
  if (text.size() <= at_most) return text;
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (at_most > 0 && is_inside(text[at_most])) --at_most;
  text.resize(at_most);
  return text + "…";
}

// Keeps so many; returns how many are cut.
template <typename Rows>
std::size_t cut(Rows& rows, std::size_t at_most) {
  if (rows.size() <= at_most) return 0;
  const std::size_t left_out = rows.size() - at_most;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at_most), rows.end());
  return left_out;
}

Json json_of(const GpuNode& node, std::size_t longest) {
  Json pieces = Json::array();
  for (const GpuPieces& one : node.pieces) {
    if (one.total == 0 && one.used == 0) continue;
    pieces.push_back(
        {{"form", one.form()}, {"total", one.total}, {"used", one.used}, {"held", one.held}});
  }
  return {{"node", node.node},
          {"type", node.type},
          {"closed", shortened(node.closed, longest)},
          {"pods", node.pods},
          {"pieces", std::move(pieces)}};
}

Json nodes_json(const std::vector<GpuNode>& nodes, std::size_t longest) {
  Json json = Json::array();
  for (const GpuNode& node : nodes) json.push_back(json_of(node, longest));
  return json;
}

Json states_json(const GpuTotals& totals) {
  Json json = Json::array();
  for (const GpuTotals::Form& form : totals.forms) {
    Json closed = Json::object();
    for (const auto& [why, gpus] : form.closed) closed[to_string(why)] = gpus;
    if (form.held > 0) closed["held"] = form.held;
    json.push_back({{"type", form.type},
                    {"form", form.form},
                    {"used", form.used},
                    {"free", form.free},
                    {"closed", std::move(closed)}});
  }
  return json;
}

struct Why {
  // "quota", "nodes", "pods", "gates", "itself"; empty: nothing that is known.
  std::string blocked_by;
  std::string sentence;
};

Why why(const PodInLine& pod, const UiNotes& notes) {
  if (!pod.never.empty()) return {"itself", "can never start as it is written: " + pod.never};
  if (pod.place == PodInLine::Place::kGated) {
    return {"gates", "has scheduling gates, and waits until they are removed"};
  }
  if (const auto refusal = notes.refusal_of(pod.pod.uid)) {
    return {answers::blocked_by(refusal->reason), refusal->headline};
  }
  if (pod.place == PodInLine::Place::kBackoff) return {"", "is tried again after a back-off"};
  return {"", "waits for its turn"};
}

Json queue_json(const std::vector<PodInLine>& line, const UiNotes& notes, std::size_t longest) {
  Json json = Json::array();
  for (const PodInLine& pod : line) {
    Why its = why(pod, notes);
    json.push_back({{"namespace", pod.pod.namespace_},
                    {"name", pod.pod.name},
                    {"quota", pod.quota},
                    {"asks", shortened(pod.asks, longest)},
                    {"gpus", pod.gpus},
                    {"priority", pod.priority},
                    {"created", k8s::json::format_seconds(pod.created)},
                    {"blockedBy", its.blocked_by},
                    {"why", shortened(std::move(its.sentence), longest)}});
  }
  return json;
}

Json misnamed_json(const std::vector<decision::MisnamedScheduler>& pods, std::size_t longest) {
  Json json = Json::array();
  for (const decision::MisnamedScheduler& one : pods) {
    json.push_back({{"namespace", one.pod.namespace_},
                    {"name", one.pod.name},
                    {"schedulerName", shortened(one.scheduler_name, longest)},
                    {"meant", one.meant}});
  }
  return json;
}

Json json_of(const UiNotes::Bound& bound) {
  const decision::Bind& bind = bound.bind;
  Json scores = Json::array();
  for (const PluginScore& one : bind.scores) {
    scores.push_back(Json::array({one.plugin, one.score, one.weight}));
  }
  Json json = {
      {"decision", bound.number},
      {"at", k8s::json::format_seconds(bound.at)},
      {"namespace", bind.pod.namespace_},
      {"name", bind.pod.name},
      {"node", bind.node},
      {"score", bind.total_score},
      {"feasibleNodes", bind.feasible_nodes},
      {"allNodes", bind.all_nodes},
      {"attempts", bind.attempts},
      {"waitedSeconds",
       std::chrono::duration_cast<std::chrono::seconds>(bound.at - bind.queued_since).count()},
      {"runnerUp", nullptr},
      {"scores", std::move(scores)}};
  if (bind.runner_up) {
    json["runnerUp"] = {{"node", bind.runner_up->node}, {"score", bind.runner_up->total_score}};
  }
  return json;
}

// Columns of equal length. Left out: columns of a kind of pieces that the cluster never had.
Json history_json(const History& history) {
  using Of = std::int64_t (*)(const History::Sample&);
  struct Column {
    const char* name;
    Of value;
    Of total;  // all zero: left out
  };
  using Sample = History::Sample;
  const Of always = [](const Sample&) { return std::int64_t{1}; };
  const Of gpus = [](const Sample& s) { return s.gpus.total; };
  const Of instances = [](const Sample& s) { return s.instances.total; };
  const Of replicas = [](const Sample& s) { return s.replicas.total; };
  const std::array<Column, 12> columns = {{
      {"at",
       [](const Sample& s) -> std::int64_t {
         return std::chrono::duration_cast<std::chrono::seconds>(s.at.time_since_epoch()).count();
       },
       always},
      {"gpusTotal", gpus, gpus},
      {"gpusUsed", [](const Sample& s) { return s.gpus.used; }, gpus},
      {"gpusFree", [](const Sample& s) { return s.gpus.free; }, gpus},
      {"instancesTotal", instances, instances},
      {"instancesUsed", [](const Sample& s) { return s.instances.used; }, instances},
      {"instancesFree", [](const Sample& s) { return s.instances.free; }, instances},
      {"replicasTotal", replicas, replicas},
      {"replicasUsed", [](const Sample& s) { return s.replicas.used; }, replicas},
      {"replicasFree", [](const Sample& s) { return s.replicas.free; }, replicas},
      {"waitingPods", [](const Sample& s) { return s.waiting_pods; }, always},
      {"waitingGpus", [](const Sample& s) { return s.waiting_gpus; }, always},
  }};
  Json json = {{"intervalSeconds", std::chrono::seconds(History::kInterval).count()}};
  for (const Column& column : columns) {
    Json values = Json::array();
    bool is_used = column.total == always;
    for (const Sample& sample : history.samples()) {
      values.push_back(column.value(sample));
      is_used = is_used || column.total(sample) != 0;
    }
    if (is_used) json[column.name] = std::move(values);
  }
  return json;
}

}  // namespace

std::string to_json(ClusterSeen seen, const UiAbout& about, const UiNotes& notes,
                    const History& history, const UiLimits& limits) {
  answers::Overview overview = answers::overview_of(seen.nodes, seen.line, seen.quotas);
  const auto shown =
      seen.line.begin() + static_cast<std::ptrdiff_t>(std::min(limits.pods, seen.line.size()));
  std::partial_sort(seen.line.begin(), shown, seen.line.end(), answers::is_earlier);
  std::stable_sort(seen.nodes.begin(), seen.nodes.end(),
                   [](const GpuNode& a, const GpuNode& b) { return a.type < b.type; });
  const Json left_out = {{"nodes", cut(seen.nodes, limits.nodes)},
                         {"closedNodes", cut(overview.closed, limits.closed_nodes)},
                         {"pods", cut(seen.line, limits.pods)},
                         {"misnamed", cut(seen.misnamed, limits.misnamed)},
                         {"quotas", cut(seen.quotas, limits.quotas)}};
  Json bound = Json::array();
  for (const UiNotes::Bound& one : notes.last_bound(limits.bound)) bound.push_back(json_of(one));
  const Json head = {{"asOf", k8s::json::format_seconds(seen.at)},
                     {"dataAgeSeconds", seen.data_age ? Json(seen.data_age->count()) : Json()},
                     {"decision", seen.decisions},
                     {"replica", about.replica},
                     {"version", about.version},
                     {"schedulerNames", about.scheduler_names}};
  std::string json = k8s::json_text(head);
  json.pop_back();  // the brace, which comes at the end
  const auto add = [&](std::string_view name, const std::string& value) {
    json.append(",\"").append(name).append("\":").append(value);
  };
  add("overview", answers::to_json(overview));
  add("quotas", answers::to_json(seen.quotas));
  add("states", k8s::json_text(states_json(seen.totals)));
  add("nodes", k8s::json_text(nodes_json(seen.nodes, limits.text)));
  add("queue", k8s::json_text(queue_json(seen.line, notes, limits.text)));
  add("misnamed", k8s::json_text(misnamed_json(seen.misnamed, limits.text)));
  add("bound", k8s::json_text(bound));
  add("history", k8s::json_text(history_json(history)));
  add("leftOut", k8s::json_text(left_out));
  return json + "}\n";
}

}  // namespace sched::live
