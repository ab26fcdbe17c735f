// The nodes on which the bind of a pod was refused repeatedly: other nodes are tried for a while.
//
// A bind may be refused because of its node (for example by an admission webhook that reads the
// node), and then neither node nor pod has changed: without this, the pod would choose the same
// node for ever. Only a certain refusal counts. A 5xx answer does not count, because an API server
// or a webhook that is down gives it for every node. Nor does a refusal because of the scheduler's
// own identity or rights. Counted as well is what cannot be prepared there before the bind, such as
// a volume (Readiness::avoids_node). A node is left out only briefly at first: a pod that is
// refused on every node for a while must not wait long after that.
#pragma once

#include "scheduler/base/types.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class RefusedBinds {
 public:
  // After so many refusals on one node it is left out for a minute, after each further one a minute
  // longer.
  static constexpr int kTimes = 2;
  static constexpr std::chrono::minutes kLongest{5};

  // `answer`: the reason given.
  void add(const std::string& node, const std::string& answer, Time now);
  // Ends what is over by `now`, and erases old refusals.
  void forget(Time now);

  // The nodes that are left out, by name, in the order of their first refusal.
  [[nodiscard]] std::vector<std::string> left_out() const;
  // When the first of them ends; nullopt: no node is left out.
  [[nodiscard]] std::optional<Time> next_end() const;
  // In sentences; empty: no node is left out.
  [[nodiscard]] std::string text() const;

 private:
  struct Refusal {
    std::string node;
    int times = 0;
    Time last{};
    std::optional<Time> until{};  // left out until then
    std::string answer;           // to the last bind
  };
  std::vector<Refusal> refusals_;  // few
};

}  // namespace sched
