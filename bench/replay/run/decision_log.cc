#include "bench/replay/run/decision_log.h"

#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

#include <ostream>
#include <utility>

namespace bench::replay {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<sched::PluginScore>& scores) {
  Json json = Json::object();
  for (const auto& score : scores) {
    json[score.plugin] = {{"score", score.score}, {"weight", score.weight}};
  }
  return json;
}

Json to_json(const std::vector<sched::gpu::DeviceShare>& devices) {
  Json json = Json::array();
  for (const auto& share : devices) {
    if (share.slices == 0) {
      json.push_back({{"device", share.device}, {"milli", share.milli}});
    } else {
      json.push_back({{"device", share.device}, {"slices", share.slices}});
    }
  }
  return json;
}

void write_line(std::ostream& out, const Json& json) { out << k8s::json_text(json) << '\n'; }

Json head(const std::string& trace, const std::string& policy, std::uint64_t seed, Moment at,
          const KindOfPod& pod, const sched::PodRef& ref) {
  return {{"trace", trace},
          {"policy", policy},
          {"seed", seed},
          {"time", static_cast<double>(at.count()) / 1000},
          {"pod", ref.namespace_ + '/' + ref.name},
          {"asks", pod.text}};
}

}  // namespace

DecisionLog::DecisionLog(std::ostream& out, std::string trace, std::string policy,
                         std::uint64_t seed)
    : out_(out), trace_(std::move(trace)), policy_(std::move(policy)), seed_(seed) {}

void DecisionLog::bound(Moment at, const KindOfPod& pod, const sched::decision::Bind& bind,
                        const std::vector<sched::Candidate>& candidates) {
  Json json = head(trace_, policy_, seed_, at, pod, bind.pod);
  json["node"] = bind.node;
  if (!bind.devices.empty()) json["devices"] = to_json(bind.devices);
  json["score"] = bind.total_score;
  json["scores"] = to_json(bind.scores);
  json["feasible"] = bind.feasible_nodes;
  json["nodes"] = bind.all_nodes;
  Json others = Json::array();
  for (const sched::Candidate& candidate : candidates) {
    others.push_back({{"node", candidate.node},
                      {"score", candidate.total_score},
                      {"scores", to_json(candidate.scores)}});
  }
  json["candidates"] = std::move(others);
  write_line(out_, json);
}

void DecisionLog::refused(Moment at, const KindOfPod& pod,
                          const sched::decision::Unschedulable& decision) {
  Json json = head(trace_, policy_, seed_, at, pod, decision.pod);
  json["node"] = nullptr;
  json["message"] = decision.message;
  json["details"] = decision.details;
  json["plugins"] = decision.plugins;
  write_line(out_, json);
}

}  // namespace bench::replay
