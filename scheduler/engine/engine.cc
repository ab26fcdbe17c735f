#include "scheduler/engine/engine.h"

#include "scheduler/engine/actions/advise.h"
#include "scheduler/engine/actions/place.h"
#include "scheduler/engine/actions/place_group.h"
#include "scheduler/engine/actions/preempt.h"
#include "scheduler/engine/backoffs/node_backoffs.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/line/assumed_pods.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/line/waking.h"
#include "scheduler/engine/notices/foreign_gpu_pods.h"
#include "scheduler/engine/notices/misnamed_schedulers.h"
#include "scheduler/engine/notices/node_complaints.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/questions/questions.h"
#include "scheduler/engine/repartition/advice.h"
#include "scheduler/engine/report/quota_statuses.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <algorithm>
#include <utility>

namespace sched {
namespace {

std::optional<Time> earliest(std::optional<Time> a, std::optional<Time> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

// The parts. Each can be read alone; each is built on those before it.
class Engine::Parts {
 public:
  Parts(std::vector<Profile> profiles, EngineOptions options)
      : world(std::move(profiles), std::move(options)) {}

  // State of the cluster.
  World world;
  NodeBackoffs backoffs{world};
  ForeignGpuPods foreign;
  MisnamedSchedulers misnamed;
  NodeComplaints complaints;

  // Where a pod may go, and which pod has the next turn. The queue asks the accounts, and these the
  // parts before them.
  Finder finder{world};
  QuotaAccounts accounts{world.ledger, holds, search};
  Queues queue{accounts, world.options.quota.pods_without_quota_first};
  Holds holds{world, finder, queue};
  QuotaSearch search{world, finder, queue, holds};
  Waking waking{world, queue};
  PodGroups groups{world, queue, waking};
  AssumedPods assumed{world, queue, waking, groups};
  Plans plans{world, finder, queue, search, assumed, groups};
  Intake intake{{.world_ = world,
                 .queue_ = queue,
                 .waking_ = waking,
                 .groups_ = groups,
                 .plans_ = plans,
                 .backoffs_ = backoffs,
                 .foreign_ = foreign,
                 .misnamed_ = misnamed,
                 .complaints_ = complaints}};

  // Decisions.
  QuotaWords words{world, queue, holds};
  RepartitionAdvice repartitions{world.options.repartition_interval};
  Place place{{.world_ = world,
               .finder_ = finder,
               .queue_ = queue,
               .holds_ = holds,
               .search_ = search,
               .assumed_ = assumed,
               .plans_ = plans,
               .words_ = words,
               .repartitions_ = repartitions}};
  PlaceGroup place_group{{.world_ = world,
                          .finder_ = finder,
                          .queue_ = queue,
                          .holds_ = holds,
                          .search_ = search,
                          .groups_ = groups,
                          .plans_ = plans,
                          .place_ = place,
                          .words_ = words}};
  Preempt preempt{{.world_ = world,
                   .finder_ = finder,
                   .queue_ = queue,
                   .holds_ = holds,
                   .search_ = search,
                   .assumed_ = assumed,
                   .plans_ = plans,
                   .groups_ = groups}};
  Advise advise{world, finder, queue, holds, search, repartitions};

  // Decides on the entity that has the next turn. nullopt: there is nothing to tell.
  [[nodiscard]] std::optional<Decision> attempt(Entity& entity, Time now) {
    if (entity.is_group) {
      place_group.attempt(static_cast<WaitingGroup&>(entity), now);
      return place_group.next();
    }
    WaitingPod& pod = pod_of(entity);
    if (!pod.pod.metadata.annotations.empty()) {
      const auto group = group_of(pod.pod);
      if (!group) return place_group.refuse(pod, group.error(), now);
      if (*group && groups.holds_back(pod, **group)) {
        if (groups.is_full(pod, **group)) return place_group.keep_out(pod, **group, now);
        groups.join(pod, **group, now);
        return std::nullopt;
      }
      // It evicts none before its group has started. Then it has another turn.
      if (groups.joins_starting_group(pod)) {
        if (groups.is_full(pod, **group)) return place_group.keep_out(pod, **group, now);
        return place.attempt(pod, now);
      }
    }
    // Constructed where it is returned: a move costs as much as a few questions.
    if (!world.preempts()) return place.attempt(pod, now);
    auto decision = place.attempt(pod, now);
    if (!decision) return std::nullopt;
    // If it waits, room may be made for it.
    auto* told = std::get_if<decision::Unschedulable>(&*decision);
    return told == nullptr ? std::move(decision) : preempt.attempt(pod, std::move(*told), now);
  }

  // Answers.
  QuotaStatuses quotas{world.ledger, queue, words};
  Questions questions{world, finder, holds, search, words, queue};
};

Engine::Engine(std::vector<Profile> profiles, EngineOptions options)
    : parts_(std::make_unique<Parts>(std::move(profiles), std::move(options))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::apply(Event event, Time now) { parts_->intake.apply(std::move(event), now); }

std::optional<Decision> Engine::step(Time now) {
  Parts& parts = *parts_;
  if (!parts.intake.synced()) return std::nullopt;
  parts.intake.advance(now);
  if (auto foreign = parts.foreign.next()) return *std::move(foreign);
  if (auto news = parts.backoffs.next_news()) return news;
  if (parts.world.ledger.has_openings()) parts.plans.quota_changed();
  if (auto part = parts.plans.next(now)) return part;
  if (auto decided = parts.place_group.next()) return decided;

  parts.queue.advance(now);
  parts.waking.forget_deleted_quotas(now);
  parts.holds.renew(now);
  parts.waking.wake_for_quota();
  parts.waking.wake_refused(now);
  parts.waking.wake_for_nodes(now);
  parts.place_group.wake(now);
  parts.preempt.wake(now);
  while (Entity* entity = parts.queue.next()) {
    auto decision = parts.attempt(*entity, now);
    parts.queue.turn_is_over();
    if (decision) return decision;
  }
  // After the binds: at a start there may be one for each node.
  if (auto complaint = parts.complaints.next()) return *std::move(complaint);
  if (auto misnamed = parts.misnamed.next()) return *std::move(misnamed);
  return parts.advise.next(now);
}

std::optional<Time> Engine::next_wakeup() const {
  const Parts& parts = *parts_;
  if (!parts.intake.synced()) return std::nullopt;
  std::optional<Time> next = earliest(parts.queue.next_deadline(), parts.holds.next());
  next = earliest(next, parts.waking.next());
  next = earliest(next, parts.world.ledger.next_forgotten());
  next = earliest(next, parts.plans.next_end());
  next = earliest(next, parts.place_group.due());
  next = earliest(next, parts.preempt.next());
  next = earliest(next, parts.advise.due());
  next = earliest(next, parts.world.awaited_devices.next_end());
  next = earliest(next, parts.world.awaited_labels.next_end());
  return earliest(next, parts.backoffs.next_end());
}

PendingPods Engine::pending() const {
  const Queues& queue = parts_->queue;
  return {.active = queue.active(),
          .backoff = queue.backoff(),
          .unschedulable = queue.unschedulable() + parts_->plans.making_room(),
          .gated = queue.gated()};
}

const QueueEntries& Engine::queue_entries() const { return parts_->queue.entries(); }

GpuFigures Engine::gpu_figures() const {
  return {.nodes_backed_off = parts_->backoffs.nodes_backed_off(),
          .rejected_pods = parts_->backoffs.rejected_pods(),
          .repartitions = parts_->repartitions.nodes(),
          .repartition_pods = parts_->repartitions.pods()};
}

std::vector<QuotaStatus> Engine::quota_statuses() const { return parts_->quotas.all(); }
NamespaceQuotas Engine::quotas_of(const std::string& namespace_) const {
  return parts_->quotas.of(namespace_);
}
std::vector<QuotaUse> Engine::quota_uses() const { return parts_->quotas.uses(); }
std::vector<BorrowedGpus> Engine::borrowed_gpus() const { return parts_->quotas.borrowed(); }
QuotaNews Engine::take_quota_news() { return parts_->quotas.take_news(); }
std::uint64_t Engine::quota_version() const { return parts_->quotas.version(); }

Explanation Engine::explain(const k8s::Pod& pod, const Supposed& supposed) const {
  return parts_->questions.explain(pod, supposed);
}
Explanation Engine::explain_alike(const k8s::Pod& pod) const {
  return parts_->questions.explain_alike(pod);
}
std::vector<Candidate> Engine::candidates(const k8s::Pod& pod, std::size_t at_most,
                                          const Supposed& supposed) const {
  return parts_->questions.candidates(pod, at_most, supposed);
}
RoomFor Engine::room_for(const k8s::Pod& pod) const { return parts_->questions.room_for(pod); }
std::vector<PodChange> Engine::changes_for(const k8s::Pod& pod) const {
  return parts_->questions.changes_for(pod);
}

std::vector<GpuNode> Engine::gpu_nodes() const { return parts_->questions.gpu_nodes(false); }

std::vector<GpuNode> Engine::gpu_nodes_with_tenants() const {
  return parts_->questions.gpu_nodes(true);
}

std::optional<GpuNode> Engine::gpu_node(const std::string& name) const {
  return parts_->questions.gpu_node(name);
}

std::vector<PodInLine> Engine::in_line(std::string_view namespace_) const {
  return parts_->questions.in_line(namespace_);
}
std::optional<PodInLine> Engine::find_in_line(const std::string& uid) const {
  return parts_->questions.find_in_line(uid);
}
std::optional<PodInLine> Engine::find_in_line(std::string_view namespace_,
                                              std::string_view name) const {
  return parts_->questions.find_in_line(namespace_, name);
}

std::vector<decision::MisnamedScheduler> Engine::misnamed(std::string_view namespace_) const {
  return parts_->misnamed.in(namespace_);
}

bool Engine::knows_node(std::string_view name) const {
  return parts_->world.nodes.find(name) != kNoSlot;
}
GpuTotals Engine::gpu_totals() const { return parts_->questions.gpu_totals(); }
const k8s::Pod* Engine::waiting_pod(const std::string& uid) const {
  const PodRecord* record = parts_->world.pods.find(uid);
  if (record == nullptr || record->state() != PodRecord::State::kPending) return nullptr;
  return &record->waiting()->pod;
}

}  // namespace sched
