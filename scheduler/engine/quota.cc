// Pods that a quota counts: whose turn it is, where they may go, and what they are told.
#include "scheduler/engine/sentences.h"
#include "scheduler/engine/state.h"
#include "scheduler/quota/message.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace sched {
namespace {

using quota::QuotaId;

QuotaId quota_of(const WaitingPod& pod) { return static_cast<QuotaId>(pod.queue); }

std::string path_of(const WaitingPod& pod) {
  return pod.pod.metadata.namespace_ + "/" + pod.pod.metadata.name;
}

}  // namespace

QueueId Engine::State::queue_for(const WaitingPod& pod) const {
  if (pod.demand.is_none()) return kMainQueue;
  static_assert(static_cast<QueueId>(quota::kUnlimitedQuota) == kMainQueue);
  return static_cast<QueueId>(ledger_.quota_of(pod.pod.metadata.namespace_));
}

quota::Demand Engine::State::demand_of(std::size_t profile, const PodShape& shape,
                                       const ResourceNames& names) const {
  quota::Demand demand = quota::demand_of(shape.requests, names);
  if (demand.is_none()) return demand;
  const auto& filters = profiles_[profile].filters;
  const bool enforces_types = std::any_of(filters.begin(), filters.end(), [](const auto& filter) {
    return filter->name() == quota::kEnforcesTypes;
  });
  demand.allowed = quota::choice_of(shape, enforces_types);
  return demand;
}

void Engine::State::requeue_by_quota() {
  const std::vector<WaitingPod*> waiting = queue_.pods();
  for (WaitingPod* pod : waiting) queue_.move(*pod, queue_for(*pod));
}

void Engine::State::wake_for_quota() {
  if (!ledger_.has_news()) return;
  const quota::News news = ledger_.take_news();
  if (news.terms) {
    rejoin_by_quota();
    return queue_.quotas_changed();
  }
  for (const QuotaId id : news.accounts) queue_.account_changed(static_cast<QueueId>(id));
  for (const QuotaId id : news.opened) queue_.quota_opened(static_cast<QueueId>(id));
  for (const quota::PoolId pool : news.pools) queue_.pool_opened(pool);
}

void Engine::State::rejoin_by_quota() {
  std::vector<const WaitingPod*> others;
  queue_.for_each_quota([&](QueueId id, const PodQueue& queue) {
    for (const WaitingPod* pod : queue.parked_kinds()) {
      const bool hopeless = ledger_.never_fits(QuotaId{id}, pod->demand);
      if (hopeless == pod->in_line) others.push_back(pod);
    }
  });
  for (const WaitingPod* pod : others) queue_.rejoin(*pod);
}

quota::Standing Engine::State::Turns::standing(const WaitingPod& head) const {
  return state_.ledger_.standing(quota_of(head), head.demand, state_.hold_for(head) != nullptr);
}
quota::Standing Engine::State::Turns::as_borrower(QueueId queue) const {
  return state_.ledger_.as_borrower(QuotaId{queue});
}
std::vector<quota::PoolId> Engine::State::Turns::pools_of(QueueId queue) const {
  return state_.ledger_.pools_of(QuotaId{queue});
}
bool Engine::State::Turns::lends(quota::PoolId pool) const { return state_.ledger_.lends(pool); }
std::optional<WaitsFor> Engine::State::Turns::obstacle(const WaitingPod& parked) {
  return state_.obstacle_of(parked);
}

WaitsFor Engine::State::Search::waits_for() const {
  const bool admitted = !admission.within.empty() || !admission.borrowing.empty();
  const WaitsFor nodes = admitted || !admission.refused_some ? kWaitsForNodes : 0;
  // Where quota refuses nothing, more of it does not help. If others take it meanwhile, a node that
  // has room then shows it.
  const WaitsFor quota = admission.refused_some ? kWaitsForQuota : 0;
  return static_cast<WaitsFor>(nodes | quota);
}

Confinement Engine::State::confined_to(std::vector<quota::ClassId> classes) {
  std::size_t present = 0;
  for (quota::ClassId id = 1; id < ledger_.classes().size(); ++id) {
    if (ledger_.classes().present(id)) ++present;
  }
  // Then the answers of pods without quota serve as well.
  if (present > 0 && classes.size() == present) return {};
  return {&class_sets_, class_sets_.intern(std::move(classes))};
}

Engine::State::Search Engine::State::search(const WaitingPod& pod) {
  Search found;
  const bool is_holder = hold_for(pod) != nullptr;
  found.admission = ledger_.admit(quota_of(pod), pod.demand, is_holder);
  if (found.admission.refuses()) return found;
  const auto& [within, borrowing, refused_some] = found.admission;
  const auto look = [&](std::vector<quota::ClassId> classes) {
    found.confinement = confined_to(std::move(classes));
    const ScoreCache& cache = caches_.get(pod.profile, pod.shape, found.confinement);
    if (cache.feasible() > 0) found.cache = &cache;
  };
  if (!within.empty() || borrowing.empty()) look(within);
  if (found.cache == nullptr && is_holder) {
    found.held_node = held_node_has_room(pod, found.admission);
    if (found.held_node) return found;
  }
  if (found.cache != nullptr || borrowing.empty()) return found;
  // With the others, of which none has room: so the refusals of all are counted in one place.
  std::vector<quota::ClassId> both;
  std::merge(within.begin(), within.end(), borrowing.begin(), borrowing.end(),
             std::back_inserter(both));
  look(std::move(both));
  return found;
}

bool Engine::State::must_wait_for_turn(const WaitingPod& pod) const {
  return ledger_.is_strict(quota_of(pod)) && queue_.find(pod.queue)->line().before(pod) > 0;
}

std::optional<WaitsFor> Engine::State::obstacle_of(const WaitingPod& pod) {
  if (pod.queue == kMainQueue) {
    if (caches_.get(pod.profile, pod.shape).feasible() > 0) return std::nullopt;
    return kWaitsForNodes;
  }
  if (pod.in_line && must_wait_for_turn(pod)) return kWaitsForTurn;
  const Search found = search(pod);
  if (found.found()) return std::nullopt;
  // Quota has room for it now and no node has: it is to hold one.
  const Hold* hold = hold_for(pod);
  if (hold != nullptr && !hold->sought && !found.admission.within.empty()) return std::nullopt;
  return found.waits_for();
}

std::optional<Decision> Engine::State::attempt_by_quota(WaitingPod& pod, Time now) {
  if (must_wait_for_turn(pod)) {
    const bool hopeless = ledger_.never_fits(quota_of(pod), pod.demand);
    return hopeless ? over_quota(pod, now) : wait_for_turn(pod, now);
  }
  Search found = search(pod);
  if (found.admission.refuses()) return over_quota(pod, now);
  if (auto objection = objection_to(pod.pod, profiles_[pod.profile])) {
    const ScoreCache& cache = caches_.get(pod.profile, pod.shape, found.confinement);
    if (!cache.prepared().rejection()) {
      return refuse(pod, *objection->by, std::move(objection->reason), now);
    }
  }
  if (found.held_node) return assume_held(pod);
  if (found.cache != nullptr) return assume(pod, *found.cache);

  if (hold_for(pod) != nullptr && !found.admission.within.empty()) {
    hold_node(pod, confined_to(found.admission.within));
    // The hold itself has changed a node.
    static_cast<void>(caches_.get(pod.profile, pod.shape, found.confinement));
  }
  const std::string words = quota_words(pod);
  Decision told = park(pod, now, found.confinement, found.waits_for());
  auto& refusal = std::get<decision::Unschedulable>(told);
  refusal.details = joined(std::move(refusal.details), words);
  return told;
}

Decision Engine::State::over_quota(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, quota_words(pod));
  const bool hopeless = ledger_.never_fits(quota_of(pod), pod.demand);
  queue_.park(pod, hopeless ? kWaitsForChange : kWaitsForQuota,
              now + options_.max_unschedulable_wait);
  return refusal;
}

Decision Engine::State::wait_for_turn(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, behind_words(pod));
  queue_.park(pod, kWaitsForTurn, now + options_.max_unschedulable_wait);
  return refusal;
}

decision::Unschedulable Engine::State::quota_refusal(WaitingPod& pod, std::string message) {
  pod.last_refusal.clear();
  return {.pod = ref_of(pod.pod),
          .scheduler_name = pod.pod.spec.scheduler_name,
          .generation = pod.pod.metadata.generation,
          .message = std::move(message),
          .details = notes(pod.profile, pod.pod),
          .plugins = {std::string(kQuotaPlugin)},
          .attempts = ++pod.attempts,
          .reason = decision::Unschedulable::Reason::kGpuQuotaExceeded};
}

std::string Engine::State::quota_words(const WaitingPod& pod) const {
  return quota_words({.quota = quota_of(pod),
                      .demand = pod.demand,
                      .namespace_ = pod.pod.metadata.namespace_,
                      .waiting = &pod});
}

std::string Engine::State::quota_words(const QuotaQuestion& question) const {
  const QuotaId id = question.quota;
  if (id == quota::kUndecidedQuota) return quota::undecided_message(question.namespace_);
  if (id == quota::kNothingQuota) return quota::no_quota_message(question.namespace_);
  if (const auto error = ledger_.error_of(id)) {
    return quota::invalid_quota_message(ledger_.name_of(id), *error);
  }
  const PodQueue* queue = queue_.find(static_cast<QueueId>(id));
  std::size_t before = queue == nullptr ? 0 : queue->line().size();
  const Hold* hold = nullptr;
  if (question.waiting != nullptr) {
    before = queue->line().before(*question.waiting);
    hold = hold_for(*question.waiting);
  }
  std::string words = quota::waiting_message(
      ledger_.name_of(id), ledger_.answers(id, question.demand, hold != nullptr), before);
  if (hold == nullptr || !hold->on) return words;
  return words + "; holds node " + nodes_.name(hold->on->node()) + " until it has room";
}

std::string Engine::State::behind_words(const WaitingPod& pod) const {
  const WaitingLine& line = queue_.find(pod.queue)->line();
  return quota::behind_message(ledger_.name_of(quota_of(pod)), path_of(*line.first()),
                               line.before(pod));
}

std::vector<QuotaStatus> Engine::State::quota_statuses() const {
  std::vector<QuotaStatus> all;
  for (const QuotaId id : ledger_.quotas()) all.push_back(status_of(id));
  return all;
}

QuotaStatus Engine::State::status_of(QuotaId id) const {
  std::vector<quota::GpuShare> pending;
  if (const PodQueue* queue = queue_.find(static_cast<QueueId>(id))) {
    queue->line().for_each_kind([&](const quota::Demand& demand, std::size_t pods) {
      const auto asked = ledger_.asks_of(id, demand);
      if (!asked) return;
      const auto& [line, each] = *asked;
      if (pending.size() <= line) pending.resize(line + 1);
      pending[line] += each.times(static_cast<std::int64_t>(pods));
    });
  }
  return {.name = ledger_.name_of(id),
          .uid = ledger_.uid_of(id),
          .status = ledger_.status(id, pending)};
}

QuotaNews Engine::State::take_quota_news() {
  std::set<QuotaId> changed = ledger_.take_status_changes();
  for (const QueueId queue : queue_.take_changed_lines()) changed.insert(QuotaId{queue});
  QuotaNews news;
  for (const QuotaId id : changed) {
    if (ledger_.has(id)) {
      if (id == quota::kNothingQuota) continue;
      news.changed.push_back(status_of(id));
      told_quotas_[id] = news.changed.back().name;
    } else if (const auto told = told_quotas_.find(id); told != told_quotas_.end()) {
      news.gone.push_back(told->second);
      told_quotas_.erase(told);
    }
  }
  return news;
}

std::uint64_t Engine::State::quota_version() const { return ledger_.version() + queue_.version(); }

}  // namespace sched
