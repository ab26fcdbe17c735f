// The nodes on which binding a pod was refused again and again: it is tried elsewhere for a while.
//
// A bind may be refused for its node's sake (an admission webhook that knows the node, say), and
// nothing of the node or the pod has changed then: without this the pod would choose the same node
// for ever. The first time is short: where a pod is refused whatever the node, and that ends, it is
// not to wait long.
#pragma once

#include "scheduler/base/types.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class RefusedBinds {
 public:
  // So many refusals on one node leave it out for a minute, each further one for a minute longer.
  static constexpr int kTimes = 2;
  static constexpr std::chrono::minutes kLongest{5};

  // `answer`: why.
  void add(const std::string& node, const std::string& answer, Time now);
  // Nodes whose time is over are left out no more, and what is long ago is forgotten.
  void forget(Time now);

  // The nodes that are left out, by name, in the order of their first refusal.
  [[nodiscard]] std::vector<std::string> left_out() const;
  // When the first of them is tried again; nullopt: none is left out.
  [[nodiscard]] std::optional<Time> next_end() const;
  // In sentences; empty: no node is left out.
  [[nodiscard]] std::string text() const;

 private:
  struct Refusal {
    std::string node;
    int times = 0;
    Time last{};
    std::optional<Time> until{};  // left out so long
    std::string answer;           // to the last
  };
  std::vector<Refusal> refusals_;  // few
};

}  // namespace sched
