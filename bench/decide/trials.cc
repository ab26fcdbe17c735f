#include "bench/decide/trials.h"

#include "bench/decide/cluster.h"
#include "bench/decide/kinds.h"
#include "scheduler/base/random.h"
#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/world/world.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

namespace bench::decide {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class FullCluster {
 public:
  FullCluster(std::vector<sched::Profile> profiles, sched::EngineOptions options,
              const Scenario& scenario)
      : world_(std::move(profiles), std::move(options)), finder_(world_), seed_(scenario.seed) {
    std::int64_t gpus = 0;
    for (std::size_t i = 0; i < scenario.nodes; ++i) {
      world_.nodes.upsert(sched::facts_of(node(i), world_.names));
      gpus += kGroups[group_of(i)].gpus;
    }
    for (const Kind& kind : kinds(scenario.shapes)) {
      pods_.push_back(kind.pod);
      shapes_.push_back(world_.templates.shape(kind.pod));
    }
    const auto wanted = static_cast<std::int64_t>(scenario.load * static_cast<double>(gpus));
    std::int64_t taken = 0;
    // Also ends if the kinds that are left fit nowhere.
    for (std::size_t misses = 0, i = 0; taken < wanted && misses < pods_.size(); ++i) {
      const std::size_t kind = i % pods_.size();
      world_.statistics.pod_arrived(*shapes_[kind]);
      const sched::NodeSlot on = finder_.refresh(0, shapes_[kind]).best().node;
      misses = on == sched::kNoSlot ? misses + 1 : 0;
      if (on == sched::kNoSlot) continue;
      placed_.push_back(std::make_unique<sched::Placement>(
          world_.nodes, on,
          sched::occupant_of(pods_[kind], sched::claim_of(*shapes_[kind]), {}, true)));
      taken += shapes_[kind]->request(sched::kNvidiaGpu);
    }
  }

  [[nodiscard]] TrialFigures ask(std::size_t trials) {
    TrialFigures figures{.pods = placed_.size(), .trials = trials};
    for (const sched::ShapeRef& shape : shapes_) finder_.refresh(0, shape);
    const double began = cpu_seconds();
    for (std::size_t i = 0; i < trials; ++i) {
      const sched::ScoreCache& answers = finder_.refresh(0, shapes_[draw(shapes_.size())]);
      const sched::Placement& one_there = *placed_[draw(placed_.size())];
      const auto& there = world_.nodes.occupants(one_there.node());
      sched::Trial trial(world_.nodes);
      const std::size_t gone = std::min(1 + i % 4, there.size());
      for (std::size_t k = 0; k < gone; ++k) {
        trial.take_away(one_there.node(), *there[there.size() - 1 - k]);
      }
      if (answers.best({.trial = &trial}).feasible > answers.feasible()) ++figures.helped;
    }
    figures.cpu_seconds = cpu_seconds() - began;
    return figures;
  }

 private:
  std::size_t draw(std::size_t bound) {
    return sched::bounded(sched::mix64(seed_ + ++draws_), bound);
  }

  sched::World world_;
  sched::Finder finder_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::vector<k8s::Pod> pods_;  // by kind
  std::vector<sched::ShapeRef> shapes_;
  std::vector<std::unique_ptr<sched::Placement>> placed_;
};

}  // namespace

TrialFigures run_trials(std::vector<sched::Profile> profiles, sched::EngineOptions options,
                        const Scenario& scenario) {
  return FullCluster(std::move(profiles), std::move(options), scenario).ask(scenario.pods);
}

}  // namespace bench::decide
