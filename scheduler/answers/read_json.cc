#include "scheduler/answers/read_json.h"

#include "k8s-client/api/decode/rfc3339.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace sched::answers {
namespace {

// Thrown if the text is JSON, but not an answer that this version knows.
struct NotKnown {};
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
void read_into(const nlohmann::json& object, const char* key, T& into) {
  if (const auto found = object.find(key); found != object.end()) found->get_to(into);
}

const nlohmann::json& list_in(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

Candidate candidate_of(const nlohmann::json& json) {
  Candidate candidate;
  read_into(json, "node", candidate.node);
  read_into(json, "totalScore", candidate.total_score);
  for (const auto& one : list_in(json, "scores")) {
    PluginScore& score = candidate.scores.emplace_back();
    read_into(one, "plugin", score.plugin);
    read_into(one, "score", score.score);
    read_into(one, "weight", score.weight);
  }
  return candidate;
}

void read_judgement(const nlohmann::json& json, Why& why) {
  read_into(json, "allNodes", why.all_nodes);
  read_into(json, "fittingNodes", why.fitting_nodes);
  for (const auto& one : list_in(json, "reasons")) {
    ReasonRow& row = why.reasons.emplace_back();
    read_into(one, "nodes", row.nodes);
    read_into(one, "reason", row.reason);
    read_into(one, "example", row.example);
  }
  read_into(json, "details", why.details);
  for (const auto& one : list_in(json, "candidates")) why.candidates.push_back(candidate_of(one));
}

void read_room(const nlohmann::json& json, Why& why) {
  if (const auto frees = json.find("freesWhen"); frees != json.end()) {
    read_into(*frees, "node", why.room.node);
    read_into(*frees, "podsEnd", why.ends);
  }
  read_into(json, "wouldRunOnOneMore", why.room.if_empty);
  read_into(json, "wouldRunOnOneMoreOfType", why.room.if_empty_type);
  for (const auto& one : list_in(json, "wouldRunIfChanged")) {
    Remedy& remedy = why.remedies.emplace_back();
    read_into(one, "what", remedy.change.what);
    read_into(one, "to", remedy.change.to);
    read_into(one, "node", remedy.change.node);
    read_into(one, "podsEnd", remedy.ends);
  }
  read_into(json, "waitsForNodes", why.is_for_nodes);
  read_into(json, "waitsForPods", why.is_for_pods);
  read_into(json, "quotaNeverGives", why.quota_never_gives);
  const auto withheld = json.find("withheld");
  if (withheld == json.end()) return;
  Withheld& read = why.withheld.emplace();
  read_into(*withheld, "nodes", read.nodes);
  read_into(*withheld, "podsThatEnd", read.pods);
  read_into(*withheld, "gpusOfPodsThatEnd", read.gpus);
}

void read_into(const nlohmann::json& object, const char* key, PodRef& pod) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return;
  read_into(*found, "namespace", pod.namespace_);
  read_into(*found, "name", pod.name);
}

// Another process wrote the text, so it may have no valid time there.
void read_into(const nlohmann::json& object, const char* key, Time& time) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return;
  const auto read = k8s::json::parse_rfc3339(found->get<std::string>());
  if (!read) throw NotKnown();
  time = std::chrono::time_point_cast<Time::duration>(*read);
}

void read_into(const nlohmann::json& object, const char* key, k8s::Quantity& quantity) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  const auto read = k8s::Quantity::parse(found->get<std::string>());
  if (!read) throw NotKnown();
  quantity = *read;
}

void read_into(const nlohmann::json& object, const char* key, k8s::GpuQuota::Use& use) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  read_into(*found, "guaranteed", use.guaranteed);
  read_into(*found, "used", use.used);
  read_into(*found, "borrowed", use.borrowed);
  read_into(*found, "lent", use.lent);
  read_into(*found, "pending", use.pending);
}

void read_into(const nlohmann::json& object, const char* key, std::chrono::seconds& seconds) {
  std::int64_t count = 0;
  read_into(object, key, count);
  seconds = std::chrono::seconds(count);
}

void read_age(const nlohmann::json& json, std::optional<std::chrono::seconds>& age) {
  if (json.contains("dataAgeSeconds")) read_into(json, "dataAgeSeconds", age.emplace());
}

void read_chosen(const nlohmann::json& json, Why& why) {
  const auto found = json.find("chosen");
  if (found == json.end()) return;
  Chosen& chosen = why.chosen.emplace();
  read_into(*found, "decision", chosen.decision);
  read_into(*found, "at", chosen.at);
  read_into(*found, "score", chosen.score);
  read_into(*found, "fittingNodes", chosen.fitting_nodes);
  read_into(*found, "allNodes", chosen.all_nodes);
  read_into(*found, "attempts", chosen.attempts);
  read_into(*found, "waitedSeconds", chosen.waited);
  const auto runner_up = found->find("runnerUp");
  if (runner_up == found->end() || runner_up->is_null()) return;
  Chosen::RunnerUp second;
  read_into(*runner_up, "node", second.node);
  read_into(*runner_up, "score", second.score);
  chosen.runner_up = std::move(second);
}

void read_into(const nlohmann::json& object, const char* key, Pieces& pieces) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  read_into(*found, "total", pieces.total);
  read_into(*found, "used", pieces.used);
  read_into(*found, "held", pieces.held);
  read_into(*found, "free", pieces.free);
}

TypeRow type_of(const nlohmann::json& json) {
  TypeRow row;
  read_into(json, "type", row.type);
  read_into(json, "form", row.form);
  read_into(json, "nodes", row.nodes);
  read_into(json, "pieces", row.pieces);
  read_into(json, "largestBlock", row.largest_block);
  read_into(json, "largestBlockOn", row.largest_on);
  read_into(json, "wholeNodesFree", row.whole_nodes_free);
  return row;
}

ClosedNode closed_of(const nlohmann::json& json) {
  ClosedNode node;
  read_into(json, "node", node.node);
  read_into(json, "why", node.why);
  read_into(json, "pieces", node.pieces);
  read_into(json, "backedOff", node.backed_off);
  return node;
}

QueueRow row_of(const nlohmann::json& json) {
  QueueRow row;
  read_into(json, "position", row.position);
  read_into(json, "placeInLine", row.place_in_line);
  read_into(json, "lineLength", row.line_length);
  read_into(json, "pod", row.pod);
  read_into(json, "quota", row.quota);
  read_into(json, "asks", row.asks);
  read_into(json, "gpus", row.gpus);
  read_into(json, "created", row.created);
  read_into(json, "blockedBy", row.blocked_by);
  read_into(json, "next", row.next);
  read_into(json, "message", row.message);
  return row;
}

QuotaStatus quota_of(const nlohmann::json& json) {
  QuotaStatus quota;
  read_into(json, "name", quota.name);
  read_into(json, "parent", quota.parent);
  read_into(json, "total", quota.status.total);
  for (const auto& one : list_in(json, "lines")) {
    k8s::GpuQuota::LineStatus& line = quota.status.quotas.emplace_back();
    read_into(one, "gpuType", line.gpu_type);
    read_into(one, "use", line.use);
  }
  for (const auto& one : list_in(json, "conditions")) {
    k8s::Condition& condition = quota.status.conditions.emplace_back();
    read_into(one, "type", condition.type);
    read_into(one, "status", condition.status);
    read_into(one, "reason", condition.reason);
    read_into(one, "message", condition.message);
  }
  return quota;
}

Loan loan_of(const nlohmann::json& json) {
  Loan loan;
  read_into(json, "pod", loan.pod);
  read_into(json, "quota", loan.quota);
  read_into(json, "gpuType", loan.gpu_type);
  read_into(json, "gpus", loan.gpus);
  read_into(json, "since", loan.since);
  return loan;
}

nlohmann::json answer_of_kind(std::string_view text, const char* kind) {
  auto json = nlohmann::json::parse(text);
  if (json.at("kind") != kind) throw NotKnown();
  return json;
}

// Returns what read() returns; if it throws, the reason why the text is no answer.
template <typename Read>
auto read_answer(Read&& read) -> tl::expected<decltype(read()), std::string> try {
  return read();
} catch (const NotKnown&) {
  return tl::unexpected<std::string>("the answer is not one that this version knows");
} catch (const nlohmann::json::exception&) {
  return tl::unexpected<std::string>("the answer is no JSON of an answer");
}

}  // namespace

tl::expected<Overview, std::string> read_overview(std::string_view text) {
  return read_answer([&] {
    const nlohmann::json json = answer_of_kind(text, "Overview");
    Overview overview;
    read_into(json, "gpus", overview.gpus);
    read_into(json, "migInstances", overview.instances);
    read_into(json, "replicas", overview.replicas);
    for (const auto& one : list_in(json, "types")) overview.types.push_back(type_of(one));
    for (const auto& one : list_in(json, "closedNodes")) overview.closed.push_back(closed_of(one));
    if (const auto waiting = json.find("waiting"); waiting != json.end()) {
      read_into(*waiting, "pods", overview.waiting.pods);
      read_into(*waiting, "gpus", overview.waiting.gpus);
      read_into(*waiting, "migInstances", overview.waiting.instances);
      read_into(*waiting, "gated", overview.waiting.gated);
      read_into(*waiting, "never", overview.waiting.never);
    }
    read_into(json, "quotasWithWarnings", overview.warned_quotas);
    read_age(json, overview.data_age);
    return overview;
  });
}

tl::expected<Queue, std::string> read_queue(std::string_view text) {
  return read_answer([&] {
    const nlohmann::json json = answer_of_kind(text, "Queue");
    Queue queue;
    for (const auto& one : list_in(json, "pods")) queue.rows.push_back(row_of(one));
    for (const auto& one : list_in(json, "neverAsWritten")) {
      NeverRow& row = queue.never.emplace_back();
      read_into(one, "pod", row.pod);
      read_into(one, "why", row.why);
    }
    for (const auto& one : list_in(json, "notOurs")) {
      StrangerRow& row = queue.strangers.emplace_back();
      read_into(one, "pod", row.pod);
      read_into(one, "schedulerName", row.scheduler_name);
      read_into(one, "meant", row.meant);
    }
    read_into(json, "leftOut", queue.left_out);
    read_age(json, queue.data_age);
    if (const auto withheld = json.find("withheld"); withheld != json.end()) {
      read_into(*withheld, "nodes", queue.nodes_withheld);
    }
    return queue;
  });
}

tl::expected<QuotasSeen, std::string> read_quotas(std::string_view text) {
  return read_answer([&] {
    const nlohmann::json json = answer_of_kind(text, "Quotas");
    QuotasSeen quotas;
    for (const auto& one : list_in(json, "quotas")) quotas.of.quotas.push_back(quota_of(one));
    read_into(json, "namespace", quotas.namespace_);
    for (const auto& one : list_in(json, "borrowed")) quotas.loans.push_back(loan_of(one));
    read_into(json, "without", quotas.of.without);
    read_into(json, "selectedInVainBy", quotas.of.in_vain);
    read_into(json, "withheld", quotas.is_withheld);
    read_age(json, quotas.data_age);
    const auto line = json.find("line");
    if (line == json.end()) return quotas;
    read_into(*line, "pods", quotas.of.in_line);
    if (const auto head = line->find("head"); head != line->end() && !head->is_null()) {
      read_into(*line, "head", quotas.of.head.emplace());
    }
    read_into(*line, "headSince", quotas.of.head_since);
    read_into(*line, "firstOfNamespace", quotas.of.first_place);
    return quotas;
  });
}

tl::expected<Why, std::string> read_why(std::string_view text) {
  return read_answer([&] {
    const nlohmann::json json = answer_of_kind(text, "Why");
    const Verdict* verdict = verdict_of(json.at("verdict").get<std::string>());
    if (verdict == nullptr) throw NotKnown();
    Why why;
    why.verdict = *verdict;
    static_cast<void>(json.at("since"));
    read_into(json, "since", why.since);
    static_cast<void>(json.at("pod"));
    read_into(json, "pod", why.pod);
    read_into(json, "schedulerName", why.scheduler_name);
    read_into(json, "asks", why.asks);
    read_into(json, "quota", why.quota);
    read_into(json, "node", why.node);
    read_into(json, "headline", why.headline);
    read_judgement(json, why);
    read_room(json, why);
    read_chosen(json, why);
    read_age(json, why.data_age);
    return why;
  });
}

}  // namespace sched::answers
