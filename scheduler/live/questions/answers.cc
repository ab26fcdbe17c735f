#include "scheduler/live/questions/answers.h"

#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace sched::live {

namespace {

using Json = nlohmann::ordered_json;

Json about(const k8s::Pod& pod) {
  Json json = {{"namespace", pod.metadata.namespace_}, {"pod", pod.metadata.name}};
  if (!pod.spec.node_name.empty()) json["node"] = pod.spec.node_name;
  return json;
}

}  // namespace

std::string to_json(const k8s::Pod& pod, const Explanation& explanation, std::size_t at_most) {
  Json json = about(pod);
  json["message"] = explanation.message;
  json["details"] = explanation.details;
  if (explanation.rejection) {
    json["refusedBy"] = {{"plugin", explanation.rejection_plugin.value_or("")},
                         {"reason", *explanation.rejection}};
  }
  const std::size_t shown = std::min(at_most, explanation.nodes.size());
  Json& nodes = json["nodes"] = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const NodeExplanation& node = explanation.nodes[i];
    nodes.push_back({{"node", node.node},
                     {"code", to_string(node.code)},
                     {"plugin", node.plugin},
                     {"reasons", node.reasons},
                     {"numbers", node.numbers}});
  }
  json["nodesLeftOut"] = explanation.nodes.size() - shown;
  return k8s::json_text(json) + '\n';
}

std::string to_json(const k8s::Pod& pod, const std::vector<Candidate>& candidates) {
  Json json = about(pod);
  Json& best = json["candidates"] = Json::array();
  for (const Candidate& candidate : candidates) {
    Json scores = Json::array();
    for (const PluginScore& score : candidate.scores) {
      scores.push_back(
          {{"plugin", score.plugin}, {"score", score.score}, {"weight", score.weight}});
    }
    best.push_back({{"node", candidate.node},
                    {"totalScore", candidate.total_score},
                    {"scores", std::move(scores)}});
  }
  return k8s::json_text(json) + '\n';
}

}  // namespace sched::live
