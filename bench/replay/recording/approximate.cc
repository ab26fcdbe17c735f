#include "bench/replay/recording/approximate.h"

#include <fmt/format.h>

#include <ostream>
#include <variant>

namespace bench::replay {
namespace {

constexpr std::size_t kShown = 10;  // differences

}  // namespace

ApproximateRerun::Bound& ApproximateRerun::of(const sched::PodRef& pod) {
  Bound& bound = pods_[pod.uid];
  bound.pod = pod.namespace_ + '/' + pod.name;
  return bound;
}

bool ApproximateRerun::compute(sched::Engine& engine, sched::Time at) {
  while (const auto decision = engine.step(at)) {
    const auto* bind = std::get_if<sched::decision::Bind>(&*decision);
    if (bind == nullptr) continue;
    of(bind->pod).computed = bind->node;
    return true;
  }
  return false;
}

void ApproximateRerun::repeat(sched::Engine& engine, const sched::live::StepCall& step,
                              const std::string& place) {
  if (!step.decision) {
    while (compute(engine, step.at)) {
    }
    return;
  }
  const auto* bind = std::get_if<sched::decision::Bind>(&*step.decision);
  if (bind == nullptr) return;
  Bound& bound = of(bind->pod);
  bound.recorded = bind->node;
  bound.place = place;
  (void)compute(engine, step.at);
}

void ApproximateRerun::report(std::ostream& out) const {
  std::size_t recorded = 0;
  std::size_t same = 0;
  std::size_t other = 0;
  std::size_t missing = 0;
  std::size_t added = 0;
  for (const auto& [uid, bound] : pods_) {
    if (!bound.recorded) {
      ++added;
      continue;
    }
    ++recorded;
    if (bound.computed == bound.recorded) {
      ++same;
      continue;
    }
    ++(bound.computed ? other : missing);
    if (other + missing > kShown) continue;
    out << fmt::format("{}: pod {} was bound to {}, computed: {}\n", bound.place, bound.pod,
                       *bound.recorded, bound.computed.value_or("no bind"));
  }
  out << fmt::format(
      "approximate: of {} pods that were bound {} go to the same node, {} to another, {} are not "
      "bound; {} more are\n",
      recorded, same, other, missing, added);
}

}  // namespace bench::replay
