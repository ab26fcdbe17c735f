#include "bench/decide/churn.h"

#include "bench/decide/heap.h"
#include "bench/replay/run/cpu_clock.h"
#include "scheduler/base/random.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace bench::decide {

namespace {

using namespace std::chrono_literals;

// Pods are made in advance, so that only the engine is measured.
constexpr std::size_t kBatch = 256;

double difference(std::size_t after, std::size_t before) {
  return after > before ? static_cast<double>(after - before) : 0.0;
}

constexpr std::int64_t kLeastMilliCpu = 4'000;  // of a kind without GPU

}  // namespace

Churn::Churn(sched::Engine& engine, const Scenario& scenario)
    : scenario_(scenario),
      engine_(engine),
      meter_(engine),
      kinds_(kinds(scenario.shapes)),
      now_(std::chrono::sys_days{std::chrono::January / 1 / 2024}) {
  for (const Kind& kind : kinds_) weights_ += kind.weight;
  for (std::size_t i = 0; i < scenario.nodes; ++i) {
    const NodeGroup& group = kGroups[group_of(i)];
    pools_[group_of(i)].capacity += group.gpus > 0 ? group.gpus : group.cores * 1'000;
  }
  // Memory of the bench itself must not count as the engine's.
  for (std::size_t group = 0; group < pools_.size(); ++group) {
    const std::int64_t least = group == kNoGpu ? kLeastMilliCpu : 1;
    pools_[group].pods.reserve(static_cast<std::size_t>(pools_[group].capacity / least));
  }
  meter_.reserve(scenario.pods);
}

Outcome Churn::run() {
  Outcome outcome;
  const std::size_t empty = heap_bytes();
  for (std::size_t i = 0; i < scenario_.nodes; ++i) {
    engine_.apply(sched::event::NodeUpserted{node(i)}, now_);
  }
  engine_.apply(sched::event::Synced{}, now_);
  const std::size_t with_nodes = heap_bytes();
  fill();
  const std::size_t filled = heap_bytes();
  const std::size_t bound = bound_pods();
  const double per_shape = measure_shapes();
  add_waiting();
  warm_up();
  churn();

  const double of_shapes = per_shape * static_cast<double>(scenario_.shapes);
  outcome.cpu_seconds = engine_seconds_;
  outcome.decisions = meter_.decisions();
  outcome.refused = refused_;
  outcome.bound = bound_pods();
  outcome.gpu_load = gpu_load();
  outcome.bytes_per_node = difference(with_nodes, empty) / static_cast<double>(scenario_.nodes);
  outcome.bytes_per_shape = per_shape;
  outcome.bytes_per_pod = std::max(0.0, difference(filled, with_nodes) - of_shapes) /
                          static_cast<double>(std::max<std::size_t>(bound, 1));
  return outcome;
}

void Churn::fill() {
  std::vector<const Kind*> open;
  for (const Kind& kind : kinds_) open.push_back(&kind);
  while (!open.empty()) {
    const std::size_t at = random(open.size());
    const Kind& kind = *open[at];
    // A kind that finds no node any more is no longer drawn.
    if (!has_room(kind) || !come(make_arrival(kind), engine_)) {
      open[at] = open.back();
      open.pop_back();
    }
  }
}

double Churn::measure_shapes() {
  constexpr std::size_t kShapes = 8;
  const std::vector<Kind> more = kinds(scenario_.shapes + kShapes);
  const std::size_t before = heap_bytes();
  for (std::size_t i = scenario_.shapes; i < more.size(); ++i) {
    const Arrival arrival = make_arrival(more[i]);
    engine_.apply(sched::event::PodUpserted{arrival.pending}, now_);
    while (engine_.step(now_)) {
    }
    engine_.apply(sched::event::PodDeleted{sched::ref_of(arrival.pending)}, now_);
  }
  return difference(heap_bytes(), before) / kShapes;
}

void Churn::add_waiting() {
  const bool over_quota = scenario_.waiting_for == WaitingFor::kQuota;
  if (over_quota && scenario_.waiting > 0) use_up_quota();
  for (std::size_t i = 0; i < scenario_.waiting; ++i) {
    const std::size_t shape = i % scenario_.shapes;
    const k8s::Pod pod =
        numbered(over_quota ? over_quota_pod(shape) : unfit_pod(shape), numbers_++);
    engine_.apply(sched::event::PodUpserted{pod}, now_);
    while (engine_.step(now_)) {
    }
  }
}

// One GPU, of a pod on a node that no longer exists.
void Churn::use_up_quota() {
  k8s::GpuQuota quota;
  quota.metadata.name = kQuotaNamespace;
  quota.spec.namespaces.emplace_back(kQuotaNamespace);
  quota.spec.quotas.push_back({.gpu_type = "*",
                               .guaranteed = k8s::Quantity::of(1),
                               .limit = std::nullopt,
                               .lendable = std::nullopt});
  engine_.apply(sched::event::QuotaUpserted{quota}, now_);
  k8s::Pod pod = numbered(over_quota_pod(0), numbers_++);
  pod.spec.node_name = "gone";
  engine_.apply(sched::event::PodUpserted{pod}, now_);
}

void Churn::warm_up() {
  for (std::size_t i = 0; i < scenario_.warm_up; ++i) {
    now_ += 1ms;
    const Kind& kind = draw_kind();
    make_room(kind);
    come(make_arrival(kind), engine_);
  }
}

void Churn::churn() {
  std::vector<Arrival> batch;
  std::size_t left = scenario_.pods;
  while (left > 0) {
    batch.clear();
    for (std::size_t i = 0; i < std::min(left, kBatch); ++i) {
      batch.push_back(make_arrival(draw_kind()));
    }
    left -= batch.size();
    const double start = replay::cpu_seconds();
    for (Arrival& arrival : batch) {
      now_ += 1ms;
      make_room(*arrival.kind);
      if (!come(std::move(arrival), meter_)) ++refused_;
    }
    engine_seconds_ += replay::cpu_seconds() - start;
  }
}

void Churn::make_room(const Kind& kind) {
  while (!has_room(kind)) {
    std::size_t pods = 0;
    for (const Group group : kind.groups) pods += pools_[group].pods.size();
    if (pods == 0) return;
    std::size_t drawn = random(pods);
    for (const Group group : kind.groups) {
      if (drawn < pools_[group].pods.size()) {
        leave(pools_[group], drawn);
        break;
      }
      drawn -= pools_[group].pods.size();
    }
  }
}

void Churn::leave(Pool& pool, std::size_t index) {
  const BoundPod pod = pool.pods[index];
  pool.pods[index] = pool.pods.back();
  pool.pods.pop_back();
  pool.amount -= pod.amount;
  meter_.apply(sched::event::PodDeleted{{.namespace_ = "", .name = "", .uid = uid_of(pod.number)}},
               now_);
}

template <typename Judge>
bool Churn::come(Arrival arrival, Judge& engine) {
  const sched::PodRef ref = sched::ref_of(arrival.pending);
  engine.apply(sched::event::PodUpserted{std::move(arrival.pending)}, now_);
  const auto decision = decide(engine);
  const auto* bind = decision ? std::get_if<sched::decision::Bind>(&*decision) : nullptr;
  if (bind == nullptr) {
    engine.apply(sched::event::PodDeleted{ref}, now_);
    return false;
  }
  engine.apply(sched::event::BindSucceeded{ref, bind->node}, now_);
  arrival.bound.spec.node_name = bind->node;
  engine.apply(sched::event::PodUpserted{std::move(arrival.bound)}, now_);
  const Kind& kind = *arrival.kind;
  Pool& pool =
      pools_[kind.groups.size() == 1 ? kind.groups.front() : group_of(index_of(bind->node))];
  pool.pods.push_back({.number = static_cast<std::uint32_t>(arrival.number),
                       .amount = static_cast<std::int32_t>(kind.amount)});
  pool.amount += kind.amount;
  return true;
}

std::optional<sched::Decision> Churn::decide(Meter& meter) { return meter.decide(now_); }

std::optional<sched::Decision> Churn::decide(sched::Engine& engine) {
  auto first = engine.step(now_);
  while (engine.step(now_)) {
  }
  return first;
}

Churn::Arrival Churn::make_arrival(const Kind& kind) {
  Arrival arrival;
  arrival.number = numbers_++;
  arrival.kind = &kind;
  arrival.pending = numbered(kind.pod, arrival.number);
  arrival.bound = arrival.pending;
  return arrival;
}

const Kind& Churn::draw_kind() {
  std::uint64_t drawn = random(weights_);
  for (const Kind& kind : kinds_) {
    if (drawn < kind.weight) return kind;
    drawn -= kind.weight;
  }
  return kinds_.back();
}

bool Churn::has_room(const Kind& kind) const {
  std::int64_t taken = kind.amount;
  std::int64_t capacity = 0;
  for (const Group group : kind.groups) {
    taken += pools_[group].amount;
    capacity += pools_[group].capacity;
  }
  return static_cast<double>(taken) <= scenario_.load * static_cast<double>(capacity);
}

std::size_t Churn::bound_pods() const {
  std::size_t pods = 0;
  for (const Pool& pool : pools_) pods += pool.pods.size();
  return pods;
}

double Churn::gpu_load() const {
  double taken = 0;
  double capacity = 0;
  for (std::size_t group = 0; group < kNoGpu; ++group) {
    taken += static_cast<double>(pools_[group].amount);
    capacity += static_cast<double>(pools_[group].capacity);
  }
  return capacity == 0 ? 0 : taken / capacity;
}

std::uint64_t Churn::random(std::uint64_t bound) {
  return sched::bounded(sched::mix64(sched::mix64(scenario_.seed) + ++draws_), bound);
}

}  // namespace bench::decide
