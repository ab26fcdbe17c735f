#include "scheduler/answers/json.h"

#include "k8s-client/api/decode/rfc3339.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>

namespace sched::answers {
namespace {

using Json = nlohmann::ordered_json;

// Text from the API server may hold any bytes; an answer must not fail because of it.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json json_of(const Pieces& pieces) {
  return {
      {"total", pieces.total}, {"used", pieces.used}, {"held", pieces.held}, {"free", pieces.free}};
}

Json json_of(const GpuTenant& tenant, const PodNames& names) {
  return {{"pod", names.of(tenant.uid)}, {"gpus", tenant.pieces}};
}

Json json_of(const Chosen& chosen) {
  Json json = {{"decision", chosen.decision},
               {"at", k8s::json::format_seconds(chosen.at)},
               {"score", chosen.score},
               {"fittingNodes", chosen.fitting_nodes},
               {"allNodes", chosen.all_nodes},
               {"attempts", chosen.attempts},
               {"waitedSeconds", chosen.waited.count()},
               {"runnerUp", nullptr}};
  if (!chosen.runner_up) return json;
  json["runnerUp"] = {{"node", chosen.runner_up->node}, {"score", chosen.runner_up->score}};
  json["margin"] = chosen.score - chosen.runner_up->score;
  return json;
}

void add_age(Json& json, const std::optional<std::chrono::seconds>& age) {
  if (age) json["dataAgeSeconds"] = age->count();
}

Json json_of(const PodRef& pod) { return {{"namespace", pod.namespace_}, {"name", pod.name}}; }

Json json_of(const k8s::GpuQuota::Use& use) {
  return {{"guaranteed", use.guaranteed.to_string()},
          {"used", use.used.to_string()},
          {"borrowed", use.borrowed.to_string()},
          {"lent", use.lent.to_string()},
          {"pending", use.pending.to_string()}};
}

template <typename List, typename Each>
Json array_of(const List& list, const Each& each) {
  Json array = Json::array();
  for (const auto& one : list) array.push_back(each(one));
  return array;
}

Json quotas_json(const std::vector<QuotaStatus>& quotas) {
  const auto line = [](const k8s::GpuQuota::LineStatus& one) -> Json {
    return {{"gpuType", one.gpu_type}, {"use", json_of(one.use)}};
  };
  const auto condition = [](const k8s::Condition& one) -> Json {
    return {{"type", one.type},
            {"status", one.status},
            {"reason", one.reason},
            {"message", one.message}};
  };
  return {{"kind", "Quotas"}, {"quotas", array_of(quotas, [&](const QuotaStatus& quota) -> Json {
                                 return {
                                     {"name", quota.name},
                                     {"parent", quota.parent},
                                     {"total", json_of(quota.status.total)},
                                     {"lines", array_of(quota.status.quotas, line)},
                                     {"conditions", array_of(quota.status.conditions, condition)}};
                               })}};
}

Json loans_json(const std::vector<Loan>& loans) {
  return array_of(loans, [](const Loan& one) -> Json {
    return {{"pod", one.pod},
            {"quota", one.quota},
            {"gpuType", one.gpu_type},
            {"gpus", one.gpus.to_string()},
            {"since", k8s::json::format_seconds(one.since)}};
  });
}

}  // namespace

std::string to_json(const Overview& overview) {
  Json all = {{"kind", "Overview"},
              {"gpus", json_of(overview.gpus)},
              {"migInstances", json_of(overview.instances)},
              {"replicas", json_of(overview.replicas)},
              {"types", array_of(overview.types,
                                 [](const TypeRow& row) -> Json {
                                   return {{"type", row.type},
                                           {"form", row.form},
                                           {"nodes", row.nodes},
                                           {"pieces", json_of(row.pieces)},
                                           {"largestBlock", row.largest_block},
                                           {"largestBlockOn", row.largest_on},
                                           {"wholeNodesFree", row.whole_nodes_free}};
                                 })},
              {"closedNodes", array_of(overview.closed,
                                       [](const ClosedNode& node) -> Json {
                                         return {{"node", node.node},
                                                 {"why", node.why},
                                                 {"pieces", node.pieces},
                                                 {"backedOff", node.backed_off}};
                                       })},
              {"waiting",
               {{"pods", overview.waiting.pods},
                {"gpus", overview.waiting.gpus},
                {"migInstances", overview.waiting.instances},
                {"gated", overview.waiting.gated},
                {"never", overview.waiting.never}}},
              {"quotasWithWarnings", overview.warned_quotas}};
  add_age(all, overview.data_age);
  return text_of(all);
}

std::string to_json(const std::vector<GpuNode>& nodes, const PodNames& names) {
  const auto pieces = [](const GpuPieces& one) -> Json {
    return {{"resource", one.resource}, {"form", one.form()}, {"total", one.total},
            {"used", one.used},         {"held", one.held},   {"free", one.free()}};
  };
  const auto tenant = [&](const GpuTenant& one) { return json_of(one, names); };
  return text_of({{"kind", "Nodes"}, {"nodes", array_of(nodes, [&](const GpuNode& node) -> Json {
                                        return {{"node", node.node},
                                                {"type", node.type},
                                                {"closed", node.closed},
                                                {"pieces", array_of(node.pieces, pieces)},
                                                {"pods", array_of(node.tenants, tenant)}};
                                      })}});
}

std::string to_json(const Queue& queue) {
  Json all = {{"kind", "Queue"},
              {"pods", array_of(queue.rows,
                                [](const QueueRow& row) -> Json {
                                  return {{"position", row.position},
                                          {"placeInLine", row.place_in_line},
                                          {"lineLength", row.line_length},
                                          {"pod", json_of(row.pod)},
                                          {"quota", row.quota},
                                          {"asks", row.asks},
                                          {"gpus", row.gpus},
                                          {"created", k8s::json::format_seconds(row.created)},
                                          {"blockedBy", row.blocked_by},
                                          {"next", row.next},
                                          {"message", row.message}};
                                })},
              {"neverAsWritten", array_of(queue.never,
                                          [](const NeverRow& row) -> Json {
                                            return {{"pod", json_of(row.pod)}, {"why", row.why}};
                                          })},
              {"notOurs", array_of(queue.strangers, [](const StrangerRow& row) -> Json {
                 return {{"pod", json_of(row.pod)},
                         {"schedulerName", row.scheduler_name},
                         {"meant", row.meant}};
               })}};
  if (queue.left_out > 0) all["leftOut"] = queue.left_out;
  add_age(all, queue.data_age);
  if (queue.nodes_withheld) all["withheld"] = {{"nodes", true}};
  return text_of(all);
}

std::string to_json(const std::vector<QuotaStatus>& quotas) { return text_of(quotas_json(quotas)); }

std::string to_json(const AllQuotas& quotas) {
  Json all = quotas_json(quotas.quotas);
  all["usedBy"] = array_of(quotas.uses, [](const QuotaUse& one) -> Json {
    return {{"quota", one.quota},
            {"gpuType", one.gpu_type},
            {"namespace", one.namespace_},
            {"pods", one.pods},
            {"gpus", one.gpus.to_string()}};
  });
  all["borrowed"] = loans_json(quotas.loans);
  return text_of(all);
}

std::string to_json(const QuotasSeen& quotas) {
  const NamespaceQuotas& of = quotas.of;
  Json all = quotas_json(of.quotas);
  all["namespace"] = quotas.namespace_;
  all["without"] = of.without;
  all["line"] = {
      {"pods", of.in_line},
      {"head", of.head ? json_of(*of.head) : Json()},
      {"headSince", of.in_line > 0 ? Json(k8s::json::format_seconds(of.head_since)) : Json()},
      {"firstOfNamespace", of.first_place}};
  add_age(all, quotas.data_age);
  all["borrowed"] = loans_json(quotas.loans);
  all["selectedInVainBy"] = of.in_vain;
  if (quotas.is_withheld) all["withheld"] = true;
  return text_of(all);
}

std::string to_json(const Why& why) {
  const auto reason = [](const ReasonRow& row) -> Json {
    return {{"nodes", row.nodes}, {"reason", row.reason}, {"example", row.example}};
  };
  const auto score = [](const PluginScore& one) -> Json {
    return {{"plugin", one.plugin}, {"score", one.score}, {"weight", one.weight}};
  };
  const auto candidate = [&](const Candidate& one) -> Json {
    return {{"node", one.node},
            {"totalScore", one.total_score},
            {"scores", array_of(one.scores, score)}};
  };
  const auto remedy = [](const Remedy& one) -> Json {
    return {{"what", one.change.what},
            {"to", one.change.to},
            {"node", one.change.node},
            {"podsEnd", one.ends}};
  };
  Json all = {{"kind", "Why"},
              {"verdict", to_string(why.verdict)},
              {"pod", json_of(why.pod)},
              {"schedulerName", why.scheduler_name},
              {"asks", why.asks},
              {"quota", why.quota},
              {"since", k8s::json::format_seconds(why.since)},
              {"node", why.node},
              {"headline", why.headline},
              {"allNodes", why.all_nodes},
              {"fittingNodes", why.fitting_nodes},
              {"reasons", array_of(why.reasons, reason)},
              {"details", why.details},
              {"candidates", array_of(why.candidates, candidate)},
              {"freesWhen", {{"node", why.room.node}, {"podsEnd", why.ends}}},
              {"wouldRunOnOneMore", why.room.if_empty},
              {"wouldRunOnOneMoreOfType", why.room.if_empty_type},
              {"wouldRunIfChanged", array_of(why.remedies, remedy)},
              {"waitsForNodes", why.is_for_nodes},
              {"waitsForPods", why.is_for_pods},
              {"quotaNeverGives", why.quota_never_gives}};
  if (why.chosen) all["chosen"] = json_of(*why.chosen);
  add_age(all, why.data_age);
  if (why.withheld) {
    all["withheld"] = {{"nodes", why.withheld->nodes},
                       {"podsThatEnd", why.withheld->pods},
                       {"gpusOfPodsThatEnd", why.withheld->gpus}};
  }
  return text_of(all);
}

std::string to_json(const Plan& plan) {
  constexpr std::size_t kMostStillWaiting = 100;
  const auto start = [](const PlanRow& row) -> Json {
    return {{"pod", json_of(row.pod)}, {"origin", to_string(row.origin)}, {"node", row.node}};
  };
  const auto wait = [](const PlanRow& row) -> Json {
    return {{"pod", json_of(row.pod)},
            {"origin", to_string(row.origin)},
            {"headline", row.headline},
            {"why", row.why}};
  };
  const auto name = [](const PodRef& pod) { return json_of(pod); };
  const auto still = [](const QueueRow& row) -> Json {
    return {{"pod", json_of(row.pod)}, {"blockedBy", row.blocked_by}, {"next", row.next}};
  };
  const std::vector<QueueRow> first_rows = plan.first_still_waiting(kMostStillWaiting);
  return text_of({{"kind", "Plan"},
                  {"wouldStart", array_of(plan.starts, start)},
                  {"wouldWait", array_of(plan.waits, wait)},
                  {"wouldEnd", array_of(plan.ended, name)},
                  {"wouldGoToOthers", array_of(plan.elsewhere, name)},
                  {"replaced", array_of(plan.replaced, name)},
                  {"startAnyway", plan.start_anyway},
                  {"stillWaiting", plan.still_waiting()},
                  {"stillWaitingFor", plan.causes()},
                  {"stillWaitingPods", array_of(first_rows, still)}});
}

}  // namespace sched::answers
