#include "bench/replay/output/summary.h"

#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace bench::replay {
namespace {

using Json = nlohmann::ordered_json;

// Six decimals are more precise than any figure, and fewer than the difference between two builds.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

Json to_json(const std::map<std::string, double>& figures) {
  Json json = Json::object();
  for (const auto& [name, value] : figures) json[name] = rounded(value);
  return json;
}

Json to_json(const MeanAndSpread& value) {
  return {{"mean", rounded(value.mean)}, {"sd", rounded(value.deviation)}};
}

Json to_json(const std::map<std::string, GroupUse>& groups, bool with_waits) {
  Json json = Json::object();
  for (const auto& [name, use] : groups) {
    json[name] = {{"pods", use.pods},
                  {"placed", use.placed},
                  {"gpus_asked", rounded(use.asked)},
                  {"gpus_allocated", rounded(use.allocated)}};
    if (with_waits) json[name]["wait_mean"] = rounded(use.waited);
    if (use.capacity > 0) json[name]["gpus"] = rounded(use.capacity);
  }
  return json;
}

Json to_json(const WaitOfSize& size) {
  return {{"size", size.size},
          {"pods", size.pods},
          {"gpu_hours", rounded(size.gpu_hours)},
          {"p50", rounded(size.p50)},
          {"p99", rounded(size.p99)}};
}

Json to_json(const RefusedKind& kind) {
  return {{"kind", kind.kind},       {"pods", kind.pods},       {"gpus", rounded(kind.gpus)},
          {"example", kind.example}, {"message", kind.message}, {"details", kind.details}};
}

Json to_json(const Result& run) {
  Json json{{"trace", run.trace},
            {"policy", run.policy},
            {"tie_break", run.tie_break},
            {"arrival", run.arrival},
            {"seed", run.seed},
            {"figures", to_json(run.figures)},
            {"by_namespace", to_json(run.by_namespace, run.over_time)},
            {"by_gpu_model", to_json(run.by_product, false)},
            {"not_placed", Json::array()},
            {"decisions", run.decisions},
            {"seconds", rounded(run.seconds)}};
  for (const WaitOfSize& size : run.waits_by_size) json["waits"].push_back(to_json(size));
  for (const RefusedKind& kind : run.refused) json["not_placed"].push_back(to_json(kind));
  return json;
}

Json to_json(const PolicyMeans& means) {
  Json json{{"trace", means.trace},         {"policy", means.policy},
            {"tie_break", means.tie_break}, {"arrival", means.arrival},
            {"runs", means.runs},           {"figures", Json::object()},
            {"decisions", means.decisions}, {"seconds", rounded(means.seconds)}};
  for (const auto& [name, value] : means.figures) json["figures"][name] = to_json(value);
  if (means.published) json["published_unallocated"] = to_json(*means.published);
  return json;
}

}  // namespace

void write_summary(std::ostream& out, const Summary& summary) {
  Json json{{"bench-replay-summary", 1}, {"version", GPU_SCHEDULER_VERSION}};
  for (const auto& [name, value] : summary.options) json["options"][name] = value;
  if (summary.interrupted) json["interrupted"] = true;
  for (const Trace& trace : summary.traces) {
    json["traces"].push_back({{"name", trace.name}, {"read", trace.counts}});
  }
  for (const PolicyMeans& means : summary.means) json["means"].push_back(to_json(means));
  for (const Result& run : summary.results) json["runs"].push_back(to_json(run));
  out << k8s::json_text(json, 2) << '\n';
}

}  // namespace bench::replay
