#include "scheduler/gpu/mig/repartitions.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

namespace sched::gpu::mig {
namespace {

bool offers_any(const Configuration& configuration, const std::vector<std::string>& wanted) {
  return std::any_of(configuration.instances.begin(), configuration.instances.end(),
                     [&](const InstanceCount& each) {
                       return std::find(wanted.begin(), wanted.end(), resource_of(*each.profile)) !=
                              wanted.end();
                     });
}

std::vector<Configuration> choices_for(const Candidate& node,
                                       const std::vector<std::string>& wanted) {
  std::vector<Configuration> choices = configurations(*node.geometry);
  std::erase_if(choices, [&](const Configuration& each) {
    return each.name == node.configuration || !offers_any(each, wanted) ||
           (node.one_profile && each.instances.size() > 1);
  });
  return choices;
}

// a before b: more pods for each pod that must end, then more pods; if equal, fewer GPUs.
bool better(const Repartition& a, const Repartition& b, const std::vector<Candidate>& nodes) {
  const std::size_t by_a = a.pods.size() * nodes[b.node].occupants;
  const std::size_t by_b = b.pods.size() * nodes[a.node].occupants;
  if (by_a != by_b) return by_a > by_b;
  if (a.pods.size() != b.pods.size()) return a.pods.size() > b.pods.size();
  return nodes[a.node].gpus < nodes[b.node].gpus;
}

std::vector<std::size_t> without(const std::vector<std::size_t>& all,
                                 const std::vector<std::size_t>& gone) {
  std::vector<std::size_t> left;
  std::set_difference(all.begin(), all.end(), gone.begin(), gone.end(), std::back_inserter(left));
  return left;
}

}  // namespace

std::vector<Repartition> repartitions(const std::vector<Candidate>& nodes,
                                      const std::vector<std::string>& wanted, std::size_t pods,
                                      const FitsIfPartitioned& fits, RepartitionLimits limits) {
  std::vector<std::vector<Configuration>> choices;
  for (const Candidate& node : nodes) choices.push_back(choices_for(node, wanted));
  std::vector<std::size_t> waiting(pods);
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});

  std::vector<Repartition> steps;
  const auto best_step = [&](bool of_idle) {
    std::optional<Repartition> best;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if ((nodes[node].occupants == 0) != of_idle) continue;
      for (const Configuration& to : choices[node]) {
        if (limits.trials == 0) break;
        --limits.trials;
        Repartition step{.node = node, .to = to, .pods = fits(node, to, waiting, steps)};
        if (step.pods.size() <= nodes[node].occupants) continue;
        if (!best || better(step, *best, nodes)) best = std::move(step);
      }
    }
    return best;
  };
  while (!waiting.empty() && steps.size() < limits.repartitions) {
    auto best = best_step(true);
    if (!best) break;
    waiting = without(waiting, best->pods);
    choices[best->node].clear();
    steps.push_back(*std::move(best));
  }
  if (waiting.empty() || steps.size() == limits.repartitions) return steps;
  if (auto best = best_step(false)) steps.push_back(*std::move(best));
  return steps;
}

}  // namespace sched::gpu::mig
