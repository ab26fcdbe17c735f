// What the pods of one tenant cost another: a crowd of pods comes, one of a neighbour right behind
// it; then the crowd exists, and the neighbour's pods come and go meanwhile.
//
// A turn: one of the neighbour's pods ends, which makes room that pods of the crowd may have waited
// for; another comes, and is decided on. With a restless crowd, one of its objects changes, too.
// The crowd's pods fit on no node, or are bound and ask for CPU only.
#pragma once

#include "scheduler/engine/engine.h"

#include <array>
#include <cstddef>

namespace bench::decide {

struct Crowd {
  const char* name;
  const char* what;
};
inline constexpr std::array<Crowd, 9> kCrowds{{
    {"nobody", "nobody"},
    {"alike", "pods of one shape that fit nowhere"},
    {"shapes", "pods that fit nowhere, each of another shape"},
    {"labels", "pods that fit nowhere, each with a node selector of its own"},
    {"near", "waiting pods, each with affinity to labels of its own"},
    {"selectors", "waiting pods, each with affinity to namespaces of its own selector"},
    {"apart", "bound pods with 30 terms of anti-affinity each"},
    {"relabelled", "bound pods, of which one gets another label each turn"},
    {"nodes", "bound pods, and a node gets another label each turn"},
}};

struct CrowdFigures {
  std::size_t bound = 0;    // of the neighbour's pods
  double came_seconds = 0;  // CPU, of everything that the engine did when the crowd came
  // CPU, until the neighbour's pod right behind it was bound, after all pods were known.
  double behind_seconds = 0;
  double mean_us = 0;  // CPU, of a turn
  double median_us = 0;
  double longest_us = 0;       // without the longest hundredth, when other programs ran
  std::size_t held_bytes = 0;  // of heap, more than before the crowd came
};

// `engine` is fresh, with a profile named kSchedulerName. `crowd`: index in kCrowds.
[[nodiscard]] CrowdFigures run_crowd(sched::Engine& engine, std::size_t crowd, std::size_t nodes,
                                     std::size_t pods, std::size_t turns);

}  // namespace bench::decide
