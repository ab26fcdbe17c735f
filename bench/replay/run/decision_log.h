// decisions.jsonl: every decision of a run with its reasons, one JSON object a line.
//
//   {"trace":…,"policy":…,"seed":42,"time":0.0,"pod":"default/p-1","asks":"1 GPU, 8 CPU, 32Gi",
//    "node":"n-7","devices":[{"device":0,"milli":1000}],"score":…,"scores":{"Fgd":…},
//    "feasible":812,"nodes":1213,"candidates":[{"node":"n-7","score":…,"scores":{…}},…]}
//   {…,"pod":"default/p-2","node":null,"message":"0/1213 nodes are available: …","details":"…",
//    "plugins":["NodeResourcesFit"]}
//
// bench/replay/README.md explains the fields.
#pragma once

#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/trace/trace.h"
#include "scheduler/engine/engine.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench::replay {

class DecisionLog {
 public:
  static constexpr std::size_t kCandidates = 5;

  // `out` outlives it.
  DecisionLog(std::ostream& out, std::string trace, std::string policy, std::uint64_t seed);

  void bound(Moment at, const KindOfPod& pod, const sched::decision::Bind& bind,
             const std::vector<sched::Candidate>& candidates);
  void refused(Moment at, const KindOfPod& pod, const sched::decision::Unschedulable& decision);

 private:
  std::ostream& out_;
  std::string trace_;
  std::string policy_;
  std::uint64_t seed_;
};

}  // namespace bench::replay
