#include "bench/sameness/answer.h"

#include "bench/replay/recording/rerun.h"
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "k8s-client/json_text.h"
#include "scheduler/live/record/record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

namespace bench::sameness {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCandidates = 5;

Json to_json(const sched::Explanation& explained) {
  Json nodes = Json::array();
  for (const sched::NodeExplanation& node : explained.nodes) {
    nodes.push_back({{"node", node.node},
                     {"code", sched::to_string(node.code)},
                     {"plugin", node.plugin},
                     {"reasons", node.reasons},
                     {"numbers", node.numbers}});
  }
  return {{"rejectionPlugin", explained.rejection_plugin.value_or("")},
          {"rejection", explained.rejection.value_or("")},
          {"message", explained.message},
          {"details", explained.details},
          {"nodes", std::move(nodes)}};
}

Json to_json(const std::vector<sched::Candidate>& candidates) {
  Json json = Json::array();
  for (const sched::Candidate& candidate : candidates) {
    Json scores = Json::object();
    for (const sched::PluginScore& score : candidate.scores) scores[score.plugin] = score.score;
    json.push_back({{"node", candidate.node},
                    {"totalScore", candidate.total_score},
                    {"scores", std::move(scores)}});
  }
  return json;
}

Json accounts_of(const sched::Engine& engine) {
  Json quotas = Json::array();
  for (const sched::QuotaStatus& quota : engine.quota_statuses()) {
    k8s::GpuQuota object;
    object.metadata.name = quota.name;
    object.metadata.uid = quota.uid;
    object.status = quota.status;
    quotas.push_back(Json::parse(k8s::encode(object)));
  }
  const sched::PendingPods pending = engine.pending();
  const sched::GpuFigures gpus = engine.gpu_figures();
  return {{"quotas", std::move(quotas)},
          {"active", pending.active},
          {"backoff", pending.backoff},
          {"unschedulable", pending.unschedulable},
          {"gated", pending.gated},
          {"nodesBackedOff", gpus.nodes_backed_off},
          {"rejectedPods", gpus.rejected_pods},
          {"repartitions", gpus.repartitions},
          {"repartitionPods", gpus.repartition_pods}};
}

k8s::Result<Json> answer_to(const Json& question, const sched::Engine& engine) {
  const std::string asked = question.at("ask");
  if (asked == "accounts") return accounts_of(engine);
  k8s::Decoder decoder;
  const auto pod = decoder.object<k8s::Pod>(question.at("pod").dump());
  if (!pod) return tl::unexpected(pod.error());
  if (asked == "explain") return to_json(engine.explain(*pod));
  if (asked == "candidates") return to_json(engine.candidates(*pod, kCandidates));
  return k8s::decode_error(fmt::format("unknown question \"{}\"", asked));
}

// The line to put out, or nothing.
k8s::Result<std::optional<std::string>> take(const std::string& line, sched::Engine& engine) try {
  if (line.find(R"("ask":)") != std::string::npos) {
    const Json question = Json::parse(line);
    if (question.contains("ask")) {
      auto answered = answer_to(question, engine);
      if (!answered) return tl::unexpected<k8s::Error>(std::move(answered.error()));
      return k8s::json_text(Json{{"at", question.at("at")},
                                 {"ask", question.at("ask")},
                                 {"answer", *std::move(answered)}});
    }
  }
  auto call = sched::live::decode_call(line);
  if (!call) return tl::unexpected<k8s::Error>(std::move(call.error()));
  if (auto* applied = std::get_if<sched::live::AppliedCall>(&*call)) {
    engine.apply(std::move(applied->event), applied->at);
    return std::nullopt;
  }
  const auto* step = std::get_if<sched::live::StepCall>(&*call);
  if (step == nullptr) return k8s::decode_error("a recording with gaps");
  const sched::Time at = step->at;
  std::string decision = sched::live::encode(engine.step(at));
  const auto wakeup = engine.next_wakeup();
  return fmt::format(R"({{"at":{},"step":{},"wakeup":{}}})", at.time_since_epoch().count(),
                     decision,
                     wakeup ? std::to_string(wakeup->time_since_epoch().count()) : "null");
} catch (const Json::exception& error) {
  return k8s::decode_error(error.what());
}

}  // namespace

int answer(std::istream& in, const sched::Registry& registry, std::ostream& out,
           std::ostream& complaints) {
  const auto fails = [&](std::uint64_t number, const k8s::Error& error) {
    complaints << fmt::format("answer: line {}: {}\n", number, error.message);
    return 2;
  };
  std::string line;
  std::getline(in, line);
  const auto header = sched::live::decode_header(line);
  if (!header) return fails(1, header.error());
  auto engine = replay::engine_of(*header, registry);
  if (!engine) return fails(1, engine.error());
  for (std::uint64_t number = 2; std::getline(in, line); ++number) {
    const auto answered = take(line, *engine);
    if (!answered) return fails(number, answered.error());
    if (*answered) out << **answered << std::endl;
  }
  return 0;
}

}  // namespace bench::sameness
