#include "k8s-client/api/decode.h"

#include "scheduler/live/record/record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sched::live {

namespace {

// Keeps the order of keys: the engine numbers resources in the order in which it meets them.
using Json = nlohmann::ordered_json;

// Deeper than any object of Kubernetes. nlohmann/json copies and writes by recursion.
constexpr int kDeepest = 200;

bool is_too_deep(std::string_view line) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

Json parsed(std::string_view line) {
  if (is_too_deep(line)) throw std::range_error("nests too deeply");
  return Json::parse(line);
}

// The functions below read with at() and get(), which throw. decode_call() and decode_header()
// catch that.

// A whole number that fits into Number. get() would silently truncate one that does not.
template <typename Number>
Number whole(const Json& json) {
  const bool fits = json.is_number_unsigned() ? std::in_range<Number>(json.get<std::uint64_t>())
                                              : json.is_number_integer() &&
                                                    std::in_range<Number>(json.get<std::int64_t>());
  if (!fits) {
    const std::string found = json.is_number() ? json.dump() : json.type_name();
    throw std::range_error(found + " where a whole number should be, or it is too large");
  }
  return json.get<Number>();
}

Time time_from(const Json& json) { return Time(Time::duration(whole<std::int64_t>(json))); }

PodRef pod_from(const Json& json) {
  return {.namespace_ = json.at("namespace"), .name = json.at("name"), .uid = json.at("uid")};
}

decision::Bind bind_from(const Json& json) {
  decision::Bind bind{.pod = pod_from(json.at("pod")),
                      .scheduler_name = json.at("schedulerName"),
                      .generation = whole<std::int64_t>(json.at("generation")),
                      .node = json.at("node"),
                      .devices = {},  // not known on a live cluster
                      .charged_as = {},
                      .total_score = whole<std::int64_t>(json.at("totalScore")),
                      .scores = {},
                      .feasible_nodes = whole<std::size_t>(json.at("feasibleNodes")),
                      .all_nodes = whole<std::size_t>(json.at("allNodes")),
                      .attempts = whole<int>(json.at("attempts")),
                      .queued_since = time_from(json.at("queuedSince"))};
  if (const auto note = json.find("chargedAs"); note != json.end()) {
    bind.charged_as = note->get<std::string>();
    // Older recordings have no time.
    if (const auto at = json.find("chargedAt"); at != json.end()) bind.charged_at = time_from(*at);
  }
  for (const Json& score : json.at("scores")) {
    bind.scores.push_back({.plugin = score.at("plugin"),
                           .score = whole<std::int64_t>(score.at("score")),
                           .weight = whole<std::int64_t>(score.at("weight"))});
  }
  return bind;
}

SeenObject seen_from(const Json& json) {
  return {.namespace_ = json.at("namespace"),
          .name = json.at("name"),
          .uid = json.at("uid"),
          .resource_version = json.at("resourceVersion")};
}

ObjectWrite write_from(const Json& json) {
  if (const auto select = json.find("selectNode"); select != json.end()) {
    return SelectNode{.claim = seen_from(select->at("claim")), .node = select->at("node")};
  }
  const Json& reserve = json.at("reserveVolume");
  return ReserveVolume{.volume = seen_from(reserve.at("volume")),
                       .claim = seen_from(reserve.at("claim")),
                       .named_claim = reserve.at("namedClaim").get<bool>()};
}

decision::Prepare prepare_from(const Json& json) {
  decision::Prepare prepare{.plan = whole<std::uint64_t>(json.at("plan")),
                            .pod = pod_from(json.at("pod")),
                            .scheduler_name = json.at("schedulerName"),
                            .generation = 0,
                            .node = json.at("node"),
                            .writes = {}};
  // Older recordings do not have it.
  if (const auto generation = json.find("generation"); generation != json.end()) {
    prepare.generation = whole<std::int64_t>(*generation);
  }
  for (const Json& write : json.at("writes")) prepare.writes.push_back(write_from(write));
  return prepare;
}

decision::Evict evict_from(const Json& json) {
  decision::Evict evict{.plan = whole<std::uint64_t>(json.at("plan")),
                        .pod = pod_from(json.at("pod")),
                        .scheduler_name = json.at("schedulerName"),
                        .generation = whole<std::int64_t>(json.at("generation")),
                        .node = json.at("node"),
                        .victims = {},
                        .message = json.at("message"),
                        .details = json.at("details"),
                        .attempts = whole<int>(json.at("attempts"))};
  for (const Json& victim : json.at("victims")) {
    evict.victims.push_back({pod_from(victim), victim.value("reclaimed", false)});
  }
  return evict;
}

decision::NotPrepared not_prepared_from(const Json& json) {
  return {.pod = pod_from(json.at("pod")),
          .scheduler_name = json.at("schedulerName"),
          .generation = whole<std::int64_t>(json.at("generation")),
          .node = json.at("node"),
          .message = json.at("message")};
}

// Older recordings do not have the key.
std::map<std::string, std::int64_t> amounts_from(const Json& json, std::string_view key) {
  const auto amounts = json.find(key);
  if (amounts == json.end()) return {};
  std::map<std::string, std::int64_t> counts;
  for (const auto& [name, count] : amounts->get_ref<const Json::object_t&>()) {
    counts[name] = whole<std::int64_t>(count);
  }
  return counts;
}

// Recordings that are older than quotas have no reason.
decision::Unschedulable::Reason reason_from(const Json& json) {
  using Reason = decision::Unschedulable::Reason;
  const std::string name = json.value("reason", "");
  for (const Reason reason : {Reason::kGpuQuotaExceeded, Reason::kWaitingForPods}) {
    if (name == decision::to_string(reason)) return reason;
  }
  return Reason::kUnschedulable;
}

decision::Unschedulable unschedulable_from(const Json& json) {
  return {.pod = pod_from(json.at("pod")),
          .scheduler_name = json.at("schedulerName"),
          .generation = whole<std::int64_t>(json.at("generation")),
          .message = json.at("message"),
          .details = json.at("details"),
          .plugins = json.at("plugins"),
          .attempts = whole<int>(json.at("attempts")),
          .reason = reason_from(json)};
}

decision::ForeignGpuPod foreign_from(const Json& json) {
  return {.pod = pod_from(json.at("pod")),
          .scheduler_name = json.at("schedulerName"),
          .node = json.at("node"),
          .gpus = whole<std::int64_t>(json.at("gpus"))};
}

decision::MisnamedScheduler misnamed_from(const Json& json) {
  return {.pod = pod_from(json.at("pod")),
          .scheduler_name = json.at("schedulerName"),
          .meant = json.at("meant")};
}

// Older recordings do not have the platform.
decision::NodeBackedOff backed_off_from(const Json& json) {
  return {.node = json.at("node"),
          .until = time_from(json.at("until")),
          .in_a_row = whole<int>(json.at("inARow")),
          .rejected = whole<int>(json.at("rejected")),
          .reason = json.at("reason"),
          .pod = pod_from(json.at("pod")),
          .platform = json.value("platform", "")};
}

decision::NodeReleased released_from(const Json& json) {
  return {.node = json.at("node"), .proven = json.at("proven")};
}

decision::MigRepartition repartition_from(const Json& json) {
  decision::MigRepartition advice{.scheduler_name = json.at("schedulerName"),
                                  .node = json.at("node"),
                                  .from = json.at("from"),
                                  .to = json.at("to"),
                                  .pods = {},
                                  .cost = json.at("cost"),
                                  .to_go = json.value("toGo", std::size_t{0})};
  for (const Json& pod : json.at("pods")) advice.pods.push_back(pod_from(pod));
  return advice;
}

event::BindFailed bind_failed_from(const Json& json) {
  using Because = event::BindFailed::Because;
  const std::string because = json.value("because", "");
  return {.pod = pod_from(json.at("pod")),
          .node = json.at("node"),
          .message = json.at("message"),
          .because = because == "NotSent"      ? Because::kNotSent
                     : because == "Stuck"      ? Because::kStuck
                     : because == "Unanswered" ? Because::kUnanswered
                     : because == "Overtaken"  ? Because::kOvertaken
                                               : Because::kRefused};
}

decision::NodeComplaint complaint_from(const Json& json) {
  return {.node = json.at("node"),
          .complaints = json.at("complaints"),
          .lasts = json.at("lasts").get<bool>()};
}

template <auto Read>
Decision decision_of(const Json& json) {
  return Read(json);
}

struct DecisionKind {
  std::string_view name;
  Decision (*read)(const Json&);
};
constexpr DecisionKind kDecisionKinds[] = {{"bind", decision_of<bind_from>},
                                           {"prepare", decision_of<prepare_from>},
                                           {"evict", decision_of<evict_from>},
                                           {"notPrepared", decision_of<not_prepared_from>},
                                           {"unschedulable", decision_of<unschedulable_from>},
                                           {"foreignGpuPod", decision_of<foreign_from>},
                                           {"misnamedScheduler", decision_of<misnamed_from>},
                                           {"nodeBackedOff", decision_of<backed_off_from>},
                                           {"nodeReleased", decision_of<released_from>},
                                           {"migRepartition", decision_of<repartition_from>},
                                           {"nodeComplaint", decision_of<complaint_from>}};

k8s::Result<std::optional<Decision>> decision_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  for (const auto& [name, read] : kDecisionKinds) {
    if (const auto found = json.find(name); found != json.end()) return read(*found);
  }
  return k8s::decode_error("step: a decision of no known kind");
}

template <typename Object>
event::Deleted<Object> deleted_from(const Json& json) {
  if constexpr (std::is_same_v<Object, k8s::Pod>) {
    return {pod_from(json.at("pod"))};
  } else {
    return {.name = json.at("name"), .namespace_ = json.value("namespace", "")};
  }
}

// nullopt: the event of that name is not about an object of that kind.
template <typename Object>
std::optional<k8s::Result<Event>> event_about(std::string_view name, const Json& json) {
  constexpr std::string_view kWord = kWatched<Object>.word;
  if (!name.starts_with(kWord)) return std::nullopt;
  name.remove_prefix(kWord.size());
  if (name == "Deleted") return deleted_from<Object>(json);
  if (name != "Upserted") return std::nullopt;
  k8s::Decoder decoder;
  auto object = decoder.object<Object>(json.at("object").dump());
  if (!object) return tl::unexpected<k8s::Error>(std::move(object.error()));
  return event::Upserted<Object>{std::move(*object)};
}

k8s::Result<Event> event_from(const Json& json) {
  const std::string name = json.at("event");
  std::optional<k8s::Result<Event>> about;
  for_each_watched_kind([&]<typename Object>(const Watched<Object>& /*kind*/) {
    if (!about) about = event_about<Object>(name, json);
  });
  if (about) return *std::move(about);
  if (name == "PodRejected") {
    return Event{event::PodRejected{.pod = pod_from(json.at("pod")),
                                    .node = json.at("node"),
                                    .reason = json.at("reason"),
                                    .at = time_from(json.at("rejectedAt")),
                                    .devices = amounts_from(json, "devices"),
                                    .requests = amounts_from(json, "requests")}};
  }
  if (name == "QuotaRemembered") {
    auto quota = k8s::Decoder().object<k8s::GpuQuota>(json.at("object").dump());
    if (!quota) return tl::unexpected<k8s::Error>(std::move(quota.error()));
    return Event{event::QuotaRemembered{std::move(*quota)}};
  }
  if (name == "Synced") return Event{event::Synced{}};
  if (name == "DisruptionBudgetsReadable") {
    return Event{event::DisruptionBudgetsReadable{.readable = json.at("readable")}};
  }
  if (name == "Prepared") {
    return Event{event::Prepared{.plan = whole<std::uint64_t>(json.at("plan")),
                                 .failure = json.at("failure")}};
  }
  if (name == "BindSucceeded") {
    return Event{event::BindSucceeded{pod_from(json.at("pod")), json.at("node")}};
  }
  if (name == "BindFailed") {
    return Event{bind_failed_from(json)};
  }
  return k8s::decode_error(fmt::format("unknown event \"{}\"", name));
}

k8s::Result<EngineCall> call_from(const Json& json) {
  const Time at = time_from(json.at("at"));
  if (json.contains("step")) {
    auto decision = decision_from(json.at("step"));
    if (!decision) return tl::unexpected<k8s::Error>(std::move(decision.error()));
    return EngineCall{StepCall{std::move(*decision), at}};
  }
  if (const auto lost = json.find("lost"); lost != json.end()) {
    return EngineCall{LostCalls{.events = whole<std::uint64_t>(lost->at("events")),
                                .decisions = whole<std::uint64_t>(lost->at("decisions")),
                                .at = at}};
  }
  auto event = event_from(json);
  if (!event) return tl::unexpected<k8s::Error>(std::move(event.error()));
  return EngineCall{AppliedCall{std::move(*event), at}};
}

}  // namespace

k8s::Result<RecordHeader> decode_header(std::string_view line) try {
  const Json json = parsed(line);
  const Json& version = json.at("gpu-scheduler-record");
  if (version != 1 && version != 2) {
    return k8s::decode_error("a recording of another version; this program reads versions 1 and 2");
  }
  RecordHeader header{.config_file = json.at("config_file"), .config = json.at("config")};
  if (const auto snapshot = json.find("snapshot"); snapshot != json.end()) {
    header.snapshot =
        RecordHeader::Snapshot{.objects = whole<std::size_t>(snapshot->at("objects")),
                               .decisions = whole<std::uint64_t>(snapshot->at("decisions")),
                               .at = time_from(snapshot->at("at"))};
  }
  return header;
} catch (const std::exception& error) {
  return k8s::decode_error(fmt::format("not the first line of a recording: {}", error.what()));
}

k8s::Result<EngineCall> decode_call(std::string_view line) try {
  return call_from(parsed(line));
} catch (const std::exception& error) {
  return k8s::decode_error(error.what());
}

}  // namespace sched::live
