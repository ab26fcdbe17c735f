#include "bench/replay/shares/run_json.h"

#include "k8s-client/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bench::replay {

// Every field of a result that ended is here. nlohmann::json writes the shortest text that is read
// as the same number.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Step, x, arrivals, allocated, refused, waiting, free_by_cause)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Snapshot::NodeState, devices, cpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Snapshot, title, x, nodes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GroupUse, pods, placed, asked, allocated, capacity, waited)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WaitOfSize, size, pods, gpu_hours, p50, p99)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RefusedKind, kind, pods, gpus, example, message, details)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(QuotaStep, x, quota, gpu_type, guaranteed, used, borrowed, lent,
                                   pending)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Result, trace, policy, tie_break, arrival, seed, over_time,
                                   figures, steps, snapshots, by_namespace, by_product, waits,
                                   waits_by_size, refused, quota_steps, decisions, seconds)

namespace {

using RunJson = nlohmann::json;

}  // namespace

std::string run_as_json(const std::string& study, std::size_t run, const Result& result) {
  const RunJson json{
      {"bench-replay-run", 1}, {"study", study}, {"run", run}, {"result", RunJson(result)}};
  return k8s::json_text(json) + '\n';
}

k8s::Result<StoredRun> run_of_json(std::string_view text) {
  try {
    const RunJson json = RunJson::parse(text);
    if (json.at("bench-replay-run") != 1) {
      return k8s::decode_error("is not a run of a study as this version writes it");
    }
    return StoredRun{.study = json.at("study").get<std::string>(),
                     .run = json.at("run").get<std::size_t>(),
                     .result = json.at("result").get<Result>()};
  } catch (const RunJson::exception& error) {
    return k8s::decode_error(fmt::format("is not a whole run of a study: {}", error.what()));
  }
}

}  // namespace bench::replay
