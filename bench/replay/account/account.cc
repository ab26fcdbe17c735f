#include "bench/replay/account/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench::replay {
namespace {

double seconds(Moment duration) { return static_cast<double>(duration.count()) / 1000; }
double hours(Moment duration) { return seconds(duration) / 3600; }

}  // namespace

Account::Account(AccountOptions options)
    : options_(std::move(options)),
      occupancy_(sched::Fragmentation(options_.typical_pods)),
      time_steps_(options_.horizon) {
  std::sort(options_.snapshots_at.begin(), options_.snapshots_at.end());
}

void Account::advance(Moment now) {
  if (now <= now_) return;
  if (options_.over_time) {
    if (now_ < options_.measure_from && options_.measure_from <= now) {
      pass(options_.measure_from);
      by_namespace_.begin_window(now_);
      by_product_.begin_window(now_);
    }
    pass(now);
  }
  now_ = now;
}

void Account::pass(Moment to) {
  const Levels now = levels();
  time_steps_.add(now, now_, to);
  if (now_ >= options_.measure_from) over_window_.add(now, to - now_);
  take_snapshots(percent(seconds(to), seconds(options_.horizon)));
  now_ = to;
}

void Account::node_upserted(const sched::NodeFacts& facts) {
  const Occupancy::Node* const known = occupancy_.find(facts.name);
  const std::string before = known == nullptr ? std::string() : known->product;
  occupancy_.upsert_node(facts);
  // What its pods hold belongs to the model that its label names from now on.
  if (known != nullptr && known->product != before && known->gpu_taken > 0) {
    by_product_.left(before, known->gpu_taken, now_);
    by_product_.placed(known->product, known->gpu_taken, now_, false);
  }
  const auto found = on_unseen_nodes_.extract(facts.name);
  if (found.empty()) return;
  for (const PodId id : found.mapped()) {
    if (is_placed(id)) occupy(pods_[id], found.key(), {});
  }
}

void Account::came(PodId id, const KindOfPod& kind) {
  if (id >= pods_.size()) pods_.resize(id + 1);
  Pod& pod = pods_[id];
  pod = {.kind = &kind,
         .state = State::kWaiting,
         .in_window = now_ >= options_.measure_from,
         .came = now_};
  begins_to_wait(pod);
  if (options_.over_time) count_arrival(pod);
}

void Account::begins_to_wait(const Pod& pod) {
  ++waiting_pods_;
  waiting_gpu_ += pod.kind->gpu_milli;
}

void Account::waits_no_longer(const Pod& pod) {
  --waiting_pods_;
  waiting_gpu_ -= pod.kind->gpu_milli;
}

void Account::count_arrival(Pod& pod) {
  if (std::exchange(pod.counted, true)) return;
  ++arrivals_;
  asked_ += pod.kind->gpu_milli;
  if (!pod.in_window) return;
  ++window_.arrived_pods;
  window_.asked += pod.kind->gpu_milli;
  by_namespace_.came(pod.kind->namespace_, pod.kind->gpu_milli);
}

void Account::decided(Pod& pod) {
  if (options_.over_time || pod.counted) return;
  count_arrival(pod);
  const Levels now = levels();
  percent_steps_.add(now);
  take_snapshots(progress());
}

void Account::placed(PodId id, const std::string& node,
                     const std::vector<sched::gpu::DeviceShare>& devices) {
  Pod& pod = pods_[id];
  if (options_.over_time && pod.in_window) {
    waits_.add(*pod.kind, seconds(now_ - pod.came));
  }
  take(id, node, devices);
}

void Account::was_there(PodId id, const std::string& node) { take(id, node, {}); }

void Account::take(PodId id, const std::string& node,
                   const std::vector<sched::gpu::DeviceShare>& devices) {
  Pod& pod = pods_[id];
  pod.state = State::kPlaced;
  waits_no_longer(pod);
  if (pod.in_window) ++window_.placed_pods;
  if (!occupy(pod, node, devices)) on_unseen_nodes_[node].push_back(id);
  decided(pod);
}

bool Account::occupy(Pod& pod, const std::string& node,
                     const std::vector<sched::gpu::DeviceShare>& devices) {
  pod.place = occupancy_.take(node, *pod.kind, devices);
  if (!pod.place) return false;
  const std::int64_t gpu = pod.place->gpu_milli;
  by_namespace_.placed(pod.kind->namespace_, gpu, now_, pod.in_window);
  const std::string& product = occupancy_.nodes()[pod.place->node].product;
  if (pod.in_window) by_product_.came(product, pod.kind->gpu_milli);
  by_product_.placed(product, gpu, now_, pod.in_window);
  return true;
}

void Account::waits(PodId id, std::string_view message, std::string_view details) {
  Pod& pod = pods_[id];
  if (pod.in_window) refused_kinds_.told(*pod.kind, message, details);
  decided(pod);
}

void Account::refused(PodId id, std::string_view message, std::string_view details) {
  Pod& pod = pods_[id];
  pod.state = State::kRefused;
  waits_no_longer(pod);
  refused_ += pod.kind->gpu_milli;
  if (pod.in_window) {
    ++window_.refused_pods;
    window_.refused += pod.kind->gpu_milli;
    refused_kinds_.told(*pod.kind, message, details);
    refused_kinds_.not_placed(*pod.kind);
  }
  decided(pod);
}

void Account::left(PodId id) {
  if (id >= pods_.size()) return;
  Pod& pod = pods_[id];
  if (pod.state == State::kWaiting) waits_no_longer(pod);
  if (pod.place) {
    by_namespace_.left(pod.kind->namespace_, pod.place->gpu_milli, now_);
    by_product_.left(occupancy_.nodes()[pod.place->node].product, pod.place->gpu_milli, now_);
    occupancy_.give_back(*pod.place);
    pod.place.reset();
  }
  if (pod.state != State::kUnknown) pod.state = State::kGone;
}

Levels Account::levels() const {
  return {.arrivals = arrivals_,
          .waiting = waiting_pods_,
          .waiting_gpu = waiting_gpu_,
          .asked = asked_,
          .refused = refused_,
          .capacity = occupancy_.capacity(),
          .allocated = occupancy_.taken(),
          .free_by_cause = occupancy_.free_by_cause(),
          .weight = occupancy_.weight()};
}

double Account::progress() const {
  return options_.over_time ? percent(seconds(now_), seconds(options_.horizon))
                            : std::round(percent(asked_, occupancy_.capacity()));
}

void Account::take_snapshots(double x) {
  while (next_snapshot_ < options_.snapshots_at.size() &&
         options_.snapshots_at[next_snapshot_] <= x) {
    const double at = options_.snapshots_at[next_snapshot_++];
    snapshots_.push_back(snapshot(at));
    // Over time nothing has changed since `at`; an arrival may lead far beyond it.
    last_snapshot_ = options_.over_time ? at : x;
  }
}

Snapshot Account::snapshot(double at) const {
  const Moment moment{std::llround(static_cast<double>(options_.horizon.count()) * at / 100)};
  const double x = options_.over_time ? hours(moment) : at;
  Snapshot snapshot;
  snapshot.x = x;
  snapshot.title = options_.over_time ? fmt::format("after {:.4g} h ({:g} % of the time)", x, at)
                                      : fmt::format("at {:g} % arrival", at);
  for (const Occupancy::Node& node : occupancy_.nodes()) {
    Snapshot::NodeState& state = snapshot.nodes.emplace_back();
    if (!node.present) continue;
    state.devices.resize(static_cast<std::size_t>(node.gpus));
    for (std::size_t i = 0; i < state.devices.size(); ++i) state.devices[i] = node.taken_of(i);
    state.cpu = percent(node.cpu_taken, node.cpu_milli) / 100;
  }
  return snapshot;
}

Outcome Account::outcome(const std::vector<Step>& steps) const {
  Outcome outcome = window_;
  outcome.capacity = occupancy_.capacity();
  for (const Pod& pod : pods_) {
    if (pod.state != State::kWaiting || !pod.in_window) continue;
    ++outcome.waiting_pods;
    outcome.waiting += pod.kind->gpu_milli;
  }
  if (options_.over_time) {
    outcome.levels = over_window_.average();
    outcome.time = {.hours = over_window_.hours(),
                    .gpu_hours_waited = over_window_.gpu_hours_waited(),
                    .gpu_hours = over_window_.gpu_hours()};
  } else if (!steps.empty()) {
    outcome.levels = steps.back();
  }
  return outcome;
}

Waits Account::all_waits() const {
  Waits all = waits_;
  if (!options_.over_time) return all;
  for (const Pod& pod : pods_) {
    if (pod.state == State::kWaiting && pod.in_window) all.add(*pod.kind, seconds(now_ - pod.came));
  }
  return all;
}

void Account::add_waits(Result& result) const {
  const Waits all = all_waits();
  result.waits = all.sorted();
  result.waits_by_size = all.by_size();
  for (auto& [name, use] : result.by_namespace) use.waited = all.mean_of(name);
}

void Account::add_groups(Result& result) const {
  const auto uses = [&](const GroupUses& groups) {
    return options_.over_time ? groups.average_until(now_) : groups.now();
  };
  result.by_namespace = uses(by_namespace_);
  result.by_product = uses(by_product_);
  for (const Occupancy::Node& node : occupancy_.nodes()) {
    if (!node.present || node.gpus == 0) continue;
    result.by_product[node.product].capacity += static_cast<double>(node.gpus);
  }
}

Result Account::result() const {
  Result result;
  result.over_time = options_.over_time;
  result.steps = options_.over_time ? time_steps_.steps() : percent_steps_.steps();
  result.snapshots = snapshots_;
  if (next_snapshot_ < options_.snapshots_at.size() && last_snapshot_ < progress()) {
    result.snapshots.push_back(snapshot(progress()));
  }
  add_groups(result);
  add_waits(result);
  result.figures = figures_of(outcome(result.steps), result.waits,
                              options_.over_time ? std::vector<Step>{} : result.steps);
  RefusedKinds kinds = refused_kinds_;
  for (const Pod& pod : pods_) {
    if (pod.state == State::kWaiting && pod.in_window) kinds.not_placed(*pod.kind);
  }
  result.refused = kinds.sorted();
  return result;
}

}  // namespace bench::replay
