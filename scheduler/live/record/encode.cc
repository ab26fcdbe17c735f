#include "k8s-client/api/encode.h"

#include "k8s-client/json_text.h"
#include "scheduler/live/record/record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sched::live {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t micros(Time at) { return at.time_since_epoch().count(); }

Json to_json(const PodRef& pod) {
  return {{"namespace", pod.namespace_}, {"name", pod.name}, {"uid", pod.uid}};
}

Json to_json(const decision::Bind& bind) {
  Json scores = Json::array();
  for (const PluginScore& score : bind.scores) {
    scores.push_back({{"plugin", score.plugin}, {"score", score.score}, {"weight", score.weight}});
  }
  Json json = {{"pod", to_json(bind.pod)},
               {"schedulerName", bind.scheduler_name},
               {"generation", bind.generation},
               {"node", bind.node},
               {"totalScore", bind.total_score},
               {"scores", std::move(scores)},
               {"feasibleNodes", bind.feasible_nodes},
               {"allNodes", bind.all_nodes},
               {"attempts", bind.attempts},
               {"queuedSince", micros(bind.queued_since)}};
  if (bind.charged_as) {
    json["chargedAs"] = *bind.charged_as;
    json["chargedAt"] = micros(bind.charged_at);
  }
  return {{"bind", std::move(json)}};
}

Json to_json(const SeenObject& seen) {
  return {{"namespace", seen.namespace_},
          {"name", seen.name},
          {"uid", seen.uid},
          {"resourceVersion", seen.resource_version}};
}

Json to_json(const ObjectWrite& write) {
  if (const auto* select = std::get_if<SelectNode>(&write)) {
    return {{"selectNode", {{"claim", to_json(select->claim)}, {"node", select->node}}}};
  }
  const auto& reserve = std::get<ReserveVolume>(write);
  return {{"reserveVolume",
           {{"volume", to_json(reserve.volume)},
            {"claim", to_json(reserve.claim)},
            {"namedClaim", reserve.named_claim}}}};
}

Json to_json(const decision::Prepare& prepare) {
  Json writes = Json::array();
  for (const ObjectWrite& write : prepare.writes) writes.push_back(to_json(write));
  return {{"prepare",
           {{"plan", prepare.plan},
            {"pod", to_json(prepare.pod)},
            {"schedulerName", prepare.scheduler_name},
            {"generation", prepare.generation},
            {"node", prepare.node},
            {"writes", std::move(writes)}}}};
}

Json to_json(const decision::Evict& evict) {
  Json victims = Json::array();
  for (const decision::Victim& victim : evict.victims) {
    victims.push_back(to_json(victim.pod));
    if (victim.reclaimed) victims.back()["reclaimed"] = true;
  }
  return {{"evict",
           {{"plan", evict.plan},
            {"pod", to_json(evict.pod)},
            {"schedulerName", evict.scheduler_name},
            {"generation", evict.generation},
            {"node", evict.node},
            {"victims", std::move(victims)},
            {"message", evict.message},
            {"details", evict.details},
            {"attempts", evict.attempts}}}};
}

Json to_json(const decision::NotPrepared& undone) {
  return {{"notPrepared",
           {{"pod", to_json(undone.pod)},
            {"schedulerName", undone.scheduler_name},
            {"generation", undone.generation},
            {"node", undone.node},
            {"message", undone.message}}}};
}

Json to_json(const decision::Unschedulable& no) {
  return {{"unschedulable",
           {{"pod", to_json(no.pod)},
            {"schedulerName", no.scheduler_name},
            {"generation", no.generation},
            {"message", no.message},
            {"details", no.details},
            {"plugins", no.plugins},
            {"attempts", no.attempts},
            {"reason", decision::to_string(no.reason)}}}};
}

Json to_json(const decision::ForeignGpuPod& foreign) {
  return {{"foreignGpuPod",
           {{"pod", to_json(foreign.pod)},
            {"schedulerName", foreign.scheduler_name},
            {"node", foreign.node},
            {"gpus", foreign.gpus}}}};
}

Json to_json(const decision::MisnamedScheduler& misnamed) {
  return {{"misnamedScheduler",
           {{"pod", to_json(misnamed.pod)},
            {"schedulerName", misnamed.scheduler_name},
            {"meant", misnamed.meant}}}};
}

Json to_json(const decision::NodeBackedOff& backed_off) {
  return {{"nodeBackedOff",
           {{"node", backed_off.node},
            {"until", micros(backed_off.until)},
            {"inARow", backed_off.in_a_row},
            {"rejected", backed_off.rejected},
            {"reason", backed_off.reason},
            {"pod", to_json(backed_off.pod)},
            {"platform", backed_off.platform}}}};
}

Json to_json(const decision::NodeReleased& released) {
  return {{"nodeReleased", {{"node", released.node}, {"proven", released.proven}}}};
}

Json to_json(const decision::MigRepartition& advice) {
  Json pods = Json::array();
  for (const PodRef& pod : advice.pods) pods.push_back(to_json(pod));
  return {{"migRepartition",
           {{"schedulerName", advice.scheduler_name},
            {"node", advice.node},
            {"from", advice.from},
            {"to", advice.to},
            {"pods", std::move(pods)},
            {"cost", advice.cost},
            {"toGo", advice.to_go}}}};
}

Json to_json(const decision::NodeComplaint& complaint) {
  return {{"nodeComplaint",
           {{"node", complaint.node},
            {"complaints", complaint.complaints},
            {"lasts", complaint.lasts}}}};
}

template <typename Object>
Json to_json(const event::Deleted<Object>& gone) {
  Json json;
  if (!gone.namespace_.empty()) json["namespace"] = gone.namespace_;
  json["name"] = gone.name;
  return json;
}
Json to_json(const event::PodDeleted& gone) { return {{"pod", to_json(gone.pod)}}; }

// The rest of an event's line, behind its time. Objects are spliced in as the text they encode to.
struct EventFields {
  static std::string fields(std::string_view event, Json fields) {
    Json all{{"event", event}};
    all.update(std::move(fields));
    const std::string text = k8s::json_text(all);
    return text.substr(1, text.size() - 2);
  }

  template <typename Object>
  std::string operator()(const event::Upserted<Object>& e) const {
    return fmt::format(R"("event":"{}Upserted","object":{})", kWatched<Object>.word,
                       k8s::encode(e.object));
  }
  template <typename Object>
  std::string operator()(const event::Deleted<Object>& e) const {
    return fields(fmt::format("{}Deleted", kWatched<Object>.word), to_json(e));
  }
  std::string operator()(const event::PodRejected& e) const {
    return fields("PodRejected", {{"pod", to_json(e.pod)},
                                  {"node", e.node},
                                  {"reason", e.reason},
                                  {"rejectedAt", micros(e.at)},
                                  {"devices", e.devices},
                                  {"requests", e.requests}});
  }
  std::string operator()(const event::QuotaRemembered& e) const {
    return fmt::format(R"("event":"QuotaRemembered","object":{})", k8s::encode(e.quota));
  }
  std::string operator()(const event::Synced&) const { return fields("Synced", Json::object()); }
  std::string operator()(const event::DisruptionBudgetsReadable& e) const {
    return fields("DisruptionBudgetsReadable", {{"readable", e.readable}});
  }
  std::string operator()(const event::Prepared& e) const {
    return fields("Prepared", {{"plan", e.plan}, {"failure", e.failure}});
  }
  std::string operator()(const event::BindSucceeded& e) const {
    return fields("BindSucceeded", {{"pod", to_json(e.pod)}, {"node", e.node}});
  }
  std::string operator()(const event::BindFailed& e) const {
    Json failed = {{"pod", to_json(e.pod)}, {"node", e.node}, {"message", e.message}};
    using Because = event::BindFailed::Because;
    if (e.because == Because::kOvertaken) failed["because"] = "Overtaken";
    if (e.because == Because::kNotSent) failed["because"] = "NotSent";
    if (e.because == Because::kUnanswered) failed["because"] = "Unanswered";
    if (e.because == Because::kStuck) failed["because"] = "Stuck";
    return fields("BindFailed", std::move(failed));
  }
};

}  // namespace

std::string encode(const RecordHeader& header) {
  Json json = {{"gpu-scheduler-record", header.snapshot ? 2 : 1},
               {"config_file", header.config_file},
               {"config", header.config}};
  if (header.snapshot) {
    json["snapshot"] = {{"objects", header.snapshot->objects},
                        {"decisions", header.snapshot->decisions},
                        {"at", micros(header.snapshot->at)}};
  }
  return k8s::json_text(json);
}

std::string encode(const std::optional<Decision>& decision) {
  if (!decision) return "null";
  return k8s::json_text(std::visit([](const auto& what) { return to_json(what); }, *decision));
}

std::string encode(const EngineCall& call) {
  if (const auto* applied = std::get_if<AppliedCall>(&call)) {
    return fmt::format(R"({{"at":{},{}}})", micros(applied->at),
                       std::visit(EventFields{}, applied->event));
  }
  if (const auto* lost = std::get_if<LostCalls>(&call)) {
    return fmt::format(R"({{"at":{},"lost":{{"events":{},"decisions":{}}}}})", micros(lost->at),
                       lost->events, lost->decisions);
  }
  const auto& step = std::get<StepCall>(call);
  return fmt::format(R"({{"at":{},"step":{}}})", micros(step.at), encode(step.decision));
}

}  // namespace sched::live
