// The page's one document: all that it shows, as JSON.
//
//   {"asOf", "dataAgeSeconds" (or null), "decision", "replica", "version", "schedulerNames",
//    "overview": {…}, "quotas": {…},     the very text of `kubectl gpu -o json` and of its `quota`
//    "states": [{"type", "form", "used", "free", "closed": {"cordoned": 1}}],     as in /metrics
//    "nodes": [{"node", "type", "closed", "pods", "pieces": [{"form", "total", "used"}]}],
//    "queue": [{"namespace", "name", "quota", "asks", "gpus", "priority", "created", "blockedBy",
//               "why"}],
//    "misnamed": [{"namespace", "name", "schedulerName", "meant"}],
//    "bound": [{"decision", "at", "namespace", "name", "node", "score", "feasibleNodes",
//               "allNodes", "attempts", "waitedSeconds", "runnerUp": {"node", "score"} or null,
//               "scores": [[plugin, score, weight], …]}],
//    "history": {"at": […], "gpusUsed": […], …},
//    "leftOut": {"nodes", "closedNodes", "pods", "misnamed", "quotas"}}
//
// It is bounded however large the cluster is: what is cut is counted in "leftOut".
#pragma once

#include "scheduler/engine/engine.h"
#include "scheduler/live/ui/history.h"
#include "scheduler/live/ui/notes.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched::live {

// What the engine answered, at one moment.
struct ClusterSeen {
  std::vector<GpuNode> nodes;
  std::vector<PodInLine> line;
  GpuTotals totals;
  std::vector<QuotaStatus> quotas;
  std::vector<decision::MisnamedScheduler> misnamed;
  std::uint64_t decisions = 0;  // so many were made before
  Time at{};
  std::optional<std::chrono::seconds> data_age = {};  // at that time; nullopt: not known
  std::chrono::nanoseconds took{};                    // of the engine's thread
};

// What does not change while a process runs.
struct UiAbout {
  std::string replica;  // the host's name
  std::string version;
  std::vector<std::string> scheduler_names;
};

struct UiLimits {
  std::size_t nodes = 1'000;
  std::size_t closed_nodes = 100;
  std::size_t pods = 200;
  std::size_t misnamed = 20;
  std::size_t quotas = 200;
  std::size_t bound = 100;
  std::size_t text = 400;  // bytes of a sentence
};

[[nodiscard]] std::string to_json(ClusterSeen seen, const UiAbout& about, const UiNotes& notes,
                                  const History& history, const UiLimits& limits = {});

}  // namespace sched::live
