// Compares the binds of a recording with those that an engine computes again, where it cannot give
// exactly the same decisions: behind a snapshot of objects, or behind a gap.
//
// The engine gets every event at its time, and decides whenever the recorded one did. It may decide
// otherwise, or at another moment. The recorded events follow from the recorded decisions, so they
// show it where the pods went. So only the node that each pod was bound to last is compared.
// Refusals and notices are not compared: their numbers depend on how often and since when a pod has
// been tried.
#pragma once

#include "scheduler/live/record/record.h"

#include <iosfwd>
#include <map>
#include <optional>
#include <string>

namespace bench::replay {

class ApproximateRerun {
 public:
  // One call of the recording; `place` says where it stands.
  void repeat(sched::Engine& engine, const sched::live::StepCall& step, const std::string& place);

  // The counts, and the first differences.
  void report(std::ostream& out) const;

 private:
  struct Bound {
    std::string pod;  // "NAMESPACE/NAME"
    std::optional<std::string> recorded;
    std::optional<std::string> computed;
    std::string place;  // of the recorded one
  };
  Bound& of(const sched::PodRef& pod);
  // Makes decisions until the engine binds a pod, or has no more decisions. Returns whether it
  // bound one.
  bool compute(sched::Engine& engine, sched::Time at);

  std::map<std::string, Bound> pods_;  // by uid
};

}  // namespace bench::replay
