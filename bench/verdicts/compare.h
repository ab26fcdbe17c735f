// Compares two answers to one case: the given one, of kube-scheduler, and the engine's.
#pragma once

#include "bench/verdicts/case.h"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bench::verdicts {

// Two texts about one thing.
struct Difference {
  std::string where;  // a node, "message", "preemption", or "NODE: score of PLUGIN"
  std::string given;
  std::string ours;
  friend bool operator==(const Difference&, const Difference&) = default;
};

// "n: given Success; ours Unschedulable by NodePorts: taken".
[[nodiscard]] std::string to_text(const Difference& difference);

struct Comparison {
  std::set<std::string> missing_plugins = {};  // not empty: left out, nothing was compared
  std::size_t agreements = 0;                  // nodes, messages and scores that are the same
  std::vector<Difference> differences = {};
};

// Compared are codes, plugins and reasons of all nodes, the message and the scores of the `scoring`
// plugins, as far as the given answer has them. A refusing verdict without a plugin is a node that
// was never asked (only its code counts). An absent message is not known, unless some node fits:
// then there must be none. Of preemption the victims are compared, on a node that is one of the
// best. Nothing is compared if a verdict's plugin is not `built` here.
[[nodiscard]] Comparison compare(const Answer& given, const Answer& ours,
                                 const std::set<std::string>& scoring,
                                 const std::function<bool(const NodeVerdict&)>& built);

// Sums over cases.
struct Tally {
  std::size_t cases = 0;  // with answers or without
  std::size_t agree = 0;  // cases without a difference
  std::size_t differ = 0;
  std::size_t left_out = 0;
  std::set<std::string> missing_plugins = {};

  void add(const Comparison& comparison);
  [[nodiscard]] bool has_answers() const { return agree + differ + left_out > 0; }
};

}  // namespace bench::verdicts
