// A profile: the plugins, weights and habits that serve the pods of one schedulerName.
#pragma once

#include "scheduler/framework/plugin.h"

#include <memory>
#include <string>
#include <vector>

namespace sched {

// Which of several equally good nodes is taken. (`random` comes with its seed when it is built.)
enum class TieBreak : std::uint8_t {
  kFirstNode,  // the first by name: packs, and is the same on every run
};

struct WeightedScore {
  std::unique_ptr<ScorePlugin> plugin;
  std::int64_t weight = 1;
};

struct Profile {
  std::string scheduler_name;
  std::vector<std::unique_ptr<FilterPlugin>> filters;  // in the order they are asked
  std::vector<WeightedScore> scores;
  std::vector<std::unique_ptr<ClusterConstraint>> constraints;
  TieBreak tie_break = TieBreak::kFirstNode;
};

}  // namespace sched
