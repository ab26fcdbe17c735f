// What it costs to place the pods of a group together (docs/gangs.md).
//
// Groups come to a cluster without other pods, or with room for all of their pods but one; each is
// decided on, and is gone before the next one comes.
#pragma once

#include "scheduler/engine/options.h"
#include "scheduler/framework/profile.h"

#include <array>
#include <cstddef>
#include <vector>

namespace bench::decide {

struct GroupKind {
  const char* name;
  const char* what;
  std::size_t pods = 0;
  bool apart = false;    // not two of them on one node, by anti-affinity; else a whole node each
  bool in_vain = false;  // there is room for all but one
};
inline constexpr std::array<GroupKind, 5> kGroupKinds{{
    {"8", "8 start", 8},
    {"64", "64 start", 64},
    {"512", "512 start", 512},
    {"64-in-vain", "64 find room for 63", 64, false, true},
    {"64-apart", "64 start, each on a node of its own by anti-affinity", 64, true, false},
}};

struct GroupedFigures {
  std::size_t bound = 0;   // pods
  double cpu_seconds = 0;  // of the decisions
  double longest_seconds = 0;
};

// `kind`: index in kGroupKinds; so many groups of it come. The first profile is named
// kSchedulerName.
[[nodiscard]] GroupedFigures run_grouped(std::vector<sched::Profile> profiles,
                                         sched::EngineOptions options, std::size_t kind,
                                         std::size_t nodes, std::size_t groups);

}  // namespace bench::decide
