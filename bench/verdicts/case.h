// A scheduling question: a small cluster, a pod that needs a node, and, if known, the answer.
//
// One JSON object a line: `nodes`, `pods`, `persistentVolumes`, `csiStorageCapacities` and so on
// are lists of API objects, as `kubectl get … -o json` has them under `items`, of all kinds in
// scheduler/base/watched_kinds.h but quotas; `pod` is the pending pod. All but `pod` may be absent.
// `pluginConfig` are arguments of plugins, as a profile of kube-scheduler's has them (`name`,
// `args`); a plugin without has kube-scheduler's defaults. An answer is `verdicts` (node → code,
// plugin, reasons), `message` and `scores` (node that fits → score plugin → normalized, weighted;
// raw may be present and is not read). For a pod that no node takes it may be `preemption`, too:
// `best`, the nodes on which room would be made, one of which is to be chosen, and `victims` (node
// → pods as namespace/name); all pods are of its scheduler then. `id` names the case; `focus` and
// `preFilter` may be present and are not needed. Any other field is an error, because it would be
// misspelt.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/base/event.h"
#include "scheduler/framework/verdict.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::verdicts {

struct NodeVerdict {
  sched::Code code = sched::Code::kOk;
  std::string plugin;                // the first plugin that refused; empty: none, or not given
  std::vector<std::string> reasons;  // sorted
  friend bool operator==(const NodeVerdict&, const NodeVerdict&) = default;
};

// Of one plugin; 0 if it does not score the pod.
struct Score {
  std::int64_t normalized = 0;  // 0 … 100
  std::int64_t weighted = 0;    // what it adds to the node's sum
  friend bool operator==(const Score&, const Score&) = default;
};
using Scores = std::map<std::string, Score>;  // by plugin

struct Preemption {
  std::set<std::string> best;                            // nodes; empty: none is evicted
  std::map<std::string, std::set<std::string>> victims;  // by node, at least for the best
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

struct Answer {
  std::map<std::string, NodeVerdict> nodes;
  std::string message;                        // empty: not given
  std::map<std::string, Scores> scores = {};  // by node that fits; empty: not given
  std::optional<Preemption> preemption = {};  // nullopt: not given
  friend bool operator==(const Answer&, const Answer&) = default;
};

struct Case {
  std::string id;
  std::vector<k8s::Node> nodes;
  std::vector<k8s::Pod> pods;
  std::vector<sched::Event> others;              // the other objects, in the order of the line
  std::map<std::string, k8s::yaml::Value> args;  // by plugin; valid
  k8s::Pod pod;
  std::optional<Answer> answer;
};

// `line` is one case. A case without id gets the id `place`. On error: what is wrong, without
// `place`.
[[nodiscard]] k8s::Result<Case> parse_case(std::string_view line, const std::string& place);

}  // namespace bench::verdicts
