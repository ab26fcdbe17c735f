#include "scheduler/engine/engine.h"

#include "scheduler/engine/sentences.h"
#include "scheduler/engine/state.h"

#include <algorithm>
#include <utility>

namespace sched {

Engine::Engine(std::vector<Profile> profiles, EngineOptions options)
    : state_(std::make_unique<State>(std::move(profiles), std::move(options))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::apply(Event event, Time now) { state_->apply(std::move(event), now); }
std::optional<Decision> Engine::step(Time now) { return state_->step(now); }
std::optional<Time> Engine::next_wakeup() const { return state_->next_wakeup(); }
PendingPods Engine::pending() const { return state_->pending(); }
std::vector<QuotaStatus> Engine::quota_statuses() const { return state_->quota_statuses(); }
QuotaNews Engine::take_quota_news() { return state_->take_quota_news(); }
std::uint64_t Engine::quota_version() const { return state_->quota_version(); }
GpuFigures Engine::gpu_figures() const { return state_->gpu_figures(); }
Explanation Engine::explain(const k8s::Pod& pod) const { return state_->explain(pod); }
std::vector<Candidate> Engine::candidates(const k8s::Pod& pod, std::size_t at_most) const {
  return state_->candidates(pod, at_most);
}

namespace {

std::optional<BlackHoles> black_holes_for(const std::vector<Profile>& profiles) {
  for (const Profile& profile : profiles) {
    for (const auto& filter : profile.filters) {
      if (const auto limits = filter->rejection_limits()) return BlackHoles(*limits);
    }
  }
  return std::nullopt;
}

std::optional<Time> earliest(std::optional<Time> a, std::optional<Time> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Engine::State::State(std::vector<Profile> profiles, EngineOptions options)
    : profiles_(std::move(profiles)),
      options_(std::move(options)),
      ledger_(options_.quota),
      queue_(turns_, options_.quota.pods_without_quota_first),
      statistics_(options_.typical_pods, options_.gpu_devices),
      caches_(nodes_, profiles_, names_, statistics_),
      black_holes_(black_holes_for(profiles_)),
      repartitions_(options_.repartition_interval) {}

std::optional<Time> Engine::State::next_wakeup() const {
  if (!synced_) return std::nullopt;
  std::optional<Time> next = earliest(queue_.next_deadline(), next_hold_);
  next = earliest(next, next_advice());
  if (black_holes_) next = earliest(next, black_holes_->next_end());
  return next;
}

PendingPods Engine::State::pending() const {
  return {.active = queue_.active(),
          .backoff = queue_.backoff(),
          .unschedulable = queue_.unschedulable(),
          .gated = queue_.gated()};
}

std::optional<std::size_t> Engine::State::profile_of(std::string_view scheduler_name) const {
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    if (profiles_[i].scheduler_name == scheduler_name) return i;
  }
  return std::nullopt;
}

std::string Engine::State::notes(std::size_t profile, const k8s::Pod& pod) const {
  std::string all;
  for (const auto& constraint : profiles_[profile].constraints) {
    all = joined(std::move(all), constraint->note(pod));
  }
  return all;
}

std::optional<Objection> objection_to(const k8s::Pod& pod, const Profile& profile) {
  for (const auto& constraint : profile.constraints) {
    if (auto reason = constraint->refuses(pod))
      return Objection{constraint.get(), std::move(*reason)};
  }
  return std::nullopt;
}

PodRef ref_of(const k8s::Pod& pod) {
  return {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid};
}

}  // namespace sched
