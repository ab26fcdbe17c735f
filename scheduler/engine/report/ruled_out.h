// Counts the nodes that rules across nodes rule out for a pod, by the rules that a message names.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/world/ruling.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sched {

class RuledOut {
 public:
  // `ruling` outlives the object, and stays as it is.
  explicit RuledOut(const Ruling& ruling) : ruling_(ruling) {}

  // Adds so many nodes that the ruling treats alike, of which this is one, if they are ruled out.
  void add(NodeSlot slot, std::size_t nodes = 1);

  // For fit_error().
  [[nodiscard]] ReasonCounts reasons() const;
  // The plugins that rule the nodes out, each node's first.
  [[nodiscard]] std::set<std::string> plugins() const;

 private:
  using Told = std::vector<const Ruling::Why*>;
  const Ruling& ruling_;
  std::map<Told, std::size_t> nodes_;
  Told told_;  // of the node that is being added
};

}  // namespace sched
