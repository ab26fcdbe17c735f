#include "scheduler/answers/read_json.h"

#include "k8s-client/api/decode/rfc3339.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sched::answers {
namespace {

using Json = nlohmann::json;
using Verdict = Why::Verdict;

// nullptr: there is no such verdict.
const Verdict* verdict_of(const std::string& text) {
  static constexpr std::array kVerdicts = {Verdict::kPlaced,  Verdict::kStarts, Verdict::kWaits,
                                           Verdict::kGated,   Verdict::kNever,  Verdict::kNotOurs,
                                           Verdict::kFinished};
  const auto* found = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                   [&](Verdict one) { return to_string(one) == text; });
  return found == kVerdicts.end() ? nullptr : found;
}

template <typename T>
void read_into(const Json& object, const char* key, T& into) {
  if (const auto found = object.find(key); found != object.end()) found->get_to(into);
}

const Json& list_in(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

Candidate candidate_of(const Json& json) {
  Candidate candidate;
  read_into(json, "node", candidate.node);
  read_into(json, "totalScore", candidate.total_score);
  for (const Json& one : list_in(json, "scores")) {
    PluginScore& score = candidate.scores.emplace_back();
    read_into(one, "plugin", score.plugin);
    read_into(one, "score", score.score);
    read_into(one, "weight", score.weight);
  }
  return candidate;
}

void read_judgement(const Json& json, Why& why) {
  read_into(json, "allNodes", why.all_nodes);
  read_into(json, "fittingNodes", why.fitting_nodes);
  for (const Json& one : list_in(json, "reasons")) {
    ReasonRow& row = why.reasons.emplace_back();
    read_into(one, "nodes", row.nodes);
    read_into(one, "reason", row.reason);
    read_into(one, "example", row.example);
  }
  read_into(json, "details", why.details);
  for (const Json& one : list_in(json, "candidates")) why.candidates.push_back(candidate_of(one));
}

void read_room(const Json& json, Why& why) {
  if (const auto frees = json.find("freesWhen"); frees != json.end()) {
    read_into(*frees, "node", why.room.node);
    read_into(*frees, "podsEnd", why.ends);
  }
  read_into(json, "wouldRunOnOneMore", why.room.if_empty);
  read_into(json, "wouldRunOnOneMoreOfType", why.room.if_empty_type);
  read_into(json, "waitsForNodes", why.is_for_nodes);
  const auto withheld = json.find("withheld");
  if (withheld == json.end()) return;
  Withheld& read = why.withheld.emplace();
  read_into(*withheld, "nodes", read.nodes);
  read_into(*withheld, "podsThatEnd", read.pods);
  read_into(*withheld, "gpusOfPodsThatEnd", read.gpus);
}

}  // namespace

tl::expected<Why, std::string> read_why(std::string_view text) try {
  const Json json = Json::parse(text);
  const Verdict* verdict = verdict_of(json.at("verdict").get<std::string>());
  const auto since = k8s::json::parse_rfc3339(json.at("since").get<std::string>());
  if (json.at("kind") != "Why" || verdict == nullptr || !since) {
    return tl::unexpected<std::string>("the answer is not one that this version knows");
  }
  Why why;
  why.verdict = *verdict;
  why.since = std::chrono::time_point_cast<Time::duration>(*since);
  read_into(json.at("pod"), "namespace", why.pod.namespace_);
  read_into(json.at("pod"), "name", why.pod.name);
  read_into(json, "schedulerName", why.scheduler_name);
  read_into(json, "asks", why.asks);
  read_into(json, "quota", why.quota);
  read_into(json, "node", why.node);
  read_into(json, "headline", why.headline);
  read_judgement(json, why);
  read_room(json, why);
  return why;
} catch (const Json::exception&) {
  return tl::unexpected<std::string>("the answer is no JSON of an answer");
}

}  // namespace sched::answers
