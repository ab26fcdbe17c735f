#include "bench/decide/contention.h"

#include "bench/decide/kinds.h"
#include "bench/replay/run/cpu_clock.h"
#include "scheduler/base/random.h"

#include <chrono>
#include <utility>
#include <variant>

namespace bench::decide {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kGuaranteed = 2;  // GPUs of each quota

}  // namespace

Contention::Contention(sched::Engine& engine, const Scenario& scenario)
    : scenario_(scenario),
      engine_(engine),
      meter_(engine),
      now_(std::chrono::sys_days{std::chrono::January / 1 / 2024}) {
  meter_.reserve(2 * scenario.pods);
}

Outcome Contention::run() {
  set_up();
  const double start = replay::cpu_seconds();
  for (std::size_t i = 0; i < scenario_.pods && !running_.empty(); ++i) turn();
  Outcome outcome;
  outcome.cpu_seconds = replay::cpu_seconds() - start;
  outcome.decisions = meter_.decisions();
  outcome.refused = unused_;
  outcome.bound = running_.size();
  outcome.gpu_load = static_cast<double>(running_.size()) / static_cast<double>(capacity_);
  return outcome;
}

template <typename Judge>
void Contention::come(const Pod& pod, Judge& engine) {
  pods_.push_back(pod);
  now_ += 1ms;
  engine.apply(sched::event::PodUpserted{object(pod)}, now_);
}

template <typename Judge>
void Contention::bound(const Pod& pod, const std::string& node, Judge& engine) {
  k8s::Pod shown = object(pod);
  engine.apply(sched::event::BindSucceeded{sched::ref_of(shown), node}, now_);
  shown.spec.node_name = node;
  engine.apply(sched::event::PodUpserted{std::move(shown)}, now_);
  running_.push_back(pod);
}

// The quotas, and one that lends as much as all of them have and uses nothing; in each quota as
// many pods as are placed at first, and one of each shape that waits.
void Contention::set_up() {
  for (std::size_t i = 0; i < scenario_.nodes; ++i) {
    capacity_ += kGroups[group_of(i)].gpus;
    engine_.apply(sched::event::NodeUpserted{node(i)}, now_);
  }
  const auto all = static_cast<std::int64_t>(scenario_.quotas) * kGuaranteed;
  engine_.apply(sched::event::QuotaUpserted{quota_of("lender", all)}, now_);
  for (std::size_t quota = 0; quota < scenario_.quotas; ++quota) {
    engine_.apply(sched::event::QuotaUpserted{quota_of(team(quota), kGuaranteed)}, now_);
  }
  engine_.apply(sched::event::Synced{}, now_);
  const std::size_t each = 2 * kGuaranteed + scenario_.shapes;
  for (std::size_t i = 0; i < each * scenario_.quotas; ++i) {
    const std::size_t quota = i % scenario_.quotas;
    come({.number = pods_.size(), .quota = quota, .shape = i / scenario_.quotas % scenario_.shapes},
         engine_);
    while (auto decision = engine_.step(now_)) {
      if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) {
        bound(pods_[number_of(bind->pod.uid)], bind->node, engine_);
      }
    }
  }
}

void Contention::turn() {
  const std::uint64_t drawn =
      sched::bounded(sched::mix64(sched::mix64(scenario_.seed) + ++draws_), running_.size());
  const Pod ends = std::exchange(running_[drawn], running_.back());
  running_.pop_back();
  meter_.apply(sched::event::PodDeleted{sched::ref_of(object(ends))}, now_);
  const auto decision = meter_.decide(now_);
  const auto* bind = decision ? std::get_if<sched::decision::Bind>(&*decision) : nullptr;
  if (bind == nullptr) {
    ++unused_;
    return;
  }
  const Pod placed = pods_[number_of(bind->pod.uid)];
  bound(placed, bind->node, meter_);
  come({.number = pods_.size(), .quota = placed.quota, .shape = placed.shape}, meter_);
  static_cast<void>(meter_.decide(now_));
}

k8s::Pod Contention::object(const Pod& pod) const {
  return numbered(team_pod(pod.quota, pod.shape), pod.number);
}

}  // namespace bench::decide
