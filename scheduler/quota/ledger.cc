#include "scheduler/quota/ledger.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sched::quota {

Charge::Charge(Ledger& ledger, Pod pod, NodeSlot node, Demand demand)
    : ledger_(ledger), pod_(std::move(pod)), node_(node), demand_(std::move(demand)) {
  ledger_.add(*this);
}

Charge::~Charge() { ledger_.remove(*this); }

std::optional<QuotaId> Charge::quota() const {
  ledger_.arrange();
  return quota_;
}

Ledger::Ledger(Options options)
    : options_(options),
      assignment_(std::move(options)),
      quotas_(options_, classes_),
      answers_(quotas_, classes_),
      report_(quotas_, classes_, assignment_, charges_) {}

bool Ledger::upsert(const k8s::GpuQuota& object) {
  const bool moved = assignment_.upsert(object);
  const QuotaId id = assignment_.id_of(object.metadata.name);
  const auto [quota, is_new] = quotas_.add(id);
  if (quota.generation != object.metadata.generation || quota.uid != object.metadata.uid) {
    ++version_;
    report_.changed(id);
  }
  const bool opens = object.spec.when_deleted == k8s::GpuQuota::WhenDeleted::kOpen;
  if (is_new || moved || opens != quota.opens_when_deleted) ++memory_version_;
  quota.opens_when_deleted = opens;
  quota.name = object.metadata.name;
  quota.uid = object.metadata.uid;
  quota.generation = object.metadata.generation;

  auto spec = spec_of(object);
  std::optional<std::string> error;
  if (!spec) error = spec.error().message;
  Spec said = spec ? *std::move(spec) : Spec{};
  if (!is_new && !moved && quota.said == said && quota.error == error) return false;
  quota.said = std::move(said);
  quota.error = std::move(error);
  if (is_new) news_.replaced.insert(id);
  quotas_changed();
  return moved || is_new;
}

bool Ledger::erase(const std::string& quota, Time now) {
  const QuotaId id = assignment_.id_of(quota);
  if (!quotas_.has(id)) return false;
  Quota& known = quotas_.at(id);
  if (known.opens_when_deleted || options_.closed_after_deletion.count() == 0) {
    forget(id);
  } else {
    assignment_.keep_deleted(quota);
    quotas_.set_deleted(id, now);
    ++memory_version_;
    known.said = {};
    known.error.reset();
    news_.replaced.insert(id);
  }
  report_.changed(id);
  quotas_changed();
  return true;
}

bool Ledger::remember(const k8s::GpuQuota& quota, Time now) {
  const QuotaId id = assignment_.id_of(quota.metadata.name);
  if (quotas_.has(id) || quotas_.deleted().contains(id)) return false;
  upsert(quota);
  // By the clock of that process, which may have been ahead.
  const Time at = std::min(quota.metadata.deletion_timestamp.value_or(now), now);
  return erase(quota.metadata.name, at);
}

std::vector<k8s::GpuQuota> Ledger::memory() const {
  std::vector<k8s::GpuQuota> all;
  for (const auto& [id, quota] : quotas_.all()) {
    if (id == kNothingQuota) continue;
    k8s::GpuQuota& each = all.emplace_back(assignment_.selection_of(id));
    if (quota.opens_when_deleted) each.spec.when_deleted = k8s::GpuQuota::WhenDeleted::kOpen;
    if (const auto at = quotas_.deleted().find(id); at != quotas_.deleted().end()) {
      each.metadata.deletion_timestamp = at->second;
    }
  }
  return all;
}

void Ledger::forget(QuotaId id) {
  ++memory_version_;
  assignment_.erase(quotas_.at(id).name);
  quotas_.erase(id);
}

bool Ledger::forget_deleted(Time now) {
  arrange();
  std::vector<QuotaId> over;
  for (const auto& [id, at] : quotas_.deleted()) {
    if (until(at) <= now && deleted(id)->used.is_zero()) over.push_back(id);
  }
  if (over.empty()) return false;
  for (const QuotaId id : over) forget(id);
  quotas_changed();
  return true;
}

std::optional<Time> Ledger::next_forgotten() const {
  std::optional<Time> next;
  for (const auto& [id, at] : quotas_.deleted()) {
    if (deleted(id)->used.is_zero() && (!next || until(at) < *next)) next = until(at);
  }
  return next;
}

std::optional<Ledger::Deleted> Ledger::deleted(QuotaId id) const {
  const auto found = quotas_.deleted().find(id);
  if (found == quotas_.deleted().end()) return std::nullopt;
  arrange();
  return Deleted{.until = until(found->second), .used = quotas_.at(id).lines.back().used()};
}

bool Ledger::upsert(const k8s::Namespace& object) {
  const bool moved = assignment_.namespace_labels(object.metadata.name, object.metadata.labels);
  if (moved) recount(object.metadata.name);
  ++version_;  // the namespaces that quotas select without effect
  return moved;
}

bool Ledger::erase_namespace(const std::string& name) {
  const bool moved = assignment_.namespace_gone(name);
  if (moved) recount(name);
  ++version_;
  return moved;
}

void Ledger::recount(const std::string& namespace_) {
  const QuotaId id = quota_of(namespace_);
  for (Charge* charge : charges_.in_namespace(namespace_)) {
    uncount(*charge);
    count(*charge, id);
  }
}

void Ledger::node_is(NodeSlot slot, ChargeClassId id, GpuShare offers) {
  if (slot >= nodes_.size()) nodes_.resize(slot + std::size_t{1});
  Node& node = nodes_[slot];
  const Node was = std::exchange(node, {id, offers});
  if (was.on != id || was.offers != offers) {
    report_.offers(was.on, was.offers, {});
    report_.offers(id, {}, offers);
  }
  if (was.on == id) return;
  const std::uint64_t classes_before = classes_.version();
  if (was.on != kNoGpuClass) classes_.remove_node(was.on);
  if (id != kNoGpuClass) classes_.add_node(id);
  for (Charge* charge : charges_.on_node(slot)) uncount(*charge);
  for (Charge* charge : charges_.on_node(slot)) count(*charge);
  if (classes_.version() == classes_before) return;
  // A type more to choose from, or a type less to wait for.
  ++version_;
  ++terms_version_;
  news_.terms = true;
  report_.all_changed();
}

GpuShare Ledger::offer_of(const NodeFacts& node, const ResourceNames& names) const {
  std::vector<ResourceAmount> all;
  node.allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (amount > 0) all.push_back({id, amount});
  });
  return charge_of(demand_of(all, names), classes_[node.charge_class]);
}

bool Ledger::in_force() const {
  return quotas_.all().size() > 1 || options_.without_quota == WithoutQuota::kNone ||
         options_.without_quota == WithoutQuota::kNamed;
}

void Ledger::add(Charge& charge) {
  charges_.add(charge);
  count(charge);
}

void Ledger::remove(Charge& charge) {
  uncount(charge);
  charges_.remove(charge);
}

void Ledger::count(Charge& charge, QuotaId id) {
  if (id == kUnlimitedQuota || to_arrange_) return;
  Quota& quota = quotas_.at(id);
  charge.quota_ = id;
  charge.on_ = charge.node_ < nodes_.size() ? nodes_[charge.node_].on : kNoGpuClass;
  const std::string& noted = charge.charged_as();
  if (classes_[charge.on_].product.name.empty() && !noted.empty()) {
    const ChargeClass gpus{.product = gpu::parse_product(noted).product};
    charge.line_ = line_for(quota.spec.lines, gpus.product);
    charge.amount_ = charge_of(charge.demand_, gpus);
  } else {
    charge.line_ = quotas_.line_of(quota, charge.on_);
    charge.amount_ = charge_of(charge.demand_, classes_[charge.on_]);
  }
  change(id, quota, charge.line_, &Line::charge, charge.amount_);
}

void Ledger::uncount(Charge& charge) {
  if (!charge.quota_ || to_arrange_) return;
  const QuotaId id = *charge.quota_;
  change(id, quotas_.at(id), charge.line_, &Line::refund, charge.amount_);
  charge.quota_ = std::nullopt;
  charge.amount_ = {};
}

void Ledger::quotas_changed() {
  to_arrange_ = true;
  news_ = {.terms = true, .replaced = std::move(news_.replaced)};
  ++version_;
  ++terms_version_;
}

void Ledger::rebuild() {
  to_arrange_ = false;
  const std::uint64_t version = version_;  // which has grown with the change
  quotas_.arrange();
  report_.rebuild();
  for (const auto& [name, charges] : charges_.by_namespace()) {
    const QuotaId id = quota_of(name);
    for (Charge* charge : charges) {
      charge->quota_ = std::nullopt;
      count(*charge, id);
    }
  }
  version_ = version;
}

bool Ledger::hold(QuotaId id, const Demand& demand, const std::vector<ChargeClassId>& classes) {
  arrange();
  Quota& quota = quotas_.at(id);
  const auto best = answers_.best_hold(id, demand, classes, false);
  if (!best) return false;
  quota.held.push_back(*best);
  change(id, quota, best->line, &Line::hold, best->amount);
  return true;
}

void Ledger::release(QuotaId id, HoldRank rank) {
  arrange();
  Quota& quota = quotas_.at(id);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= quota.held.size()) return;
  const Quota::Held released = quota.held[index];
  quota.held.erase(quota.held.begin() + static_cast<std::ptrdiff_t>(index));
  change(id, quota, released.line, &Line::let_go, released.amount);
}

void Ledger::release(QuotaId id) {
  while (!quotas_.at(id).held.empty()) release(id, kFirstHold);
}

void Ledger::changed(QuotaId id, Quota& quota) {
  if (!std::exchange(quota.changed, true)) news_.accounts.push_back(id);
}

void Ledger::parent_changed(QuotaId parent) {
  for (const QuotaId id : quotas_.at(parent).children) {
    Quota& child = quotas_.at(id);
    changed(id, child);
    if (!child.children.empty()) parent_changed(id);
  }
}

void Ledger::change(QuotaId id, Quota& quota, std::size_t index, void (Line::*how)(GpuShare),
                    GpuShare amount) {
  Line& line = quota.lines[index];
  const GpuShare taken = line.used() + line.held();
  // The line's own pool, and the pools that this one borrows from.
  std::array<PoolWas, kMostLevels> was;
  std::size_t pools = 0;
  for (const Pool* pool = line.pool(); pool != nullptr; pool = pool->outer()) {
    was[pools++] = {.pool = pool,
                    .left = pool->left(),
                    .used = pool->used,
                    .in_use = pool->above == nullptr ? GpuShare() : pool->above->in_use()};
  }
  (line.*how)(amount);
  ++version_;
  report_.changed(id);
  changed(id, quota);
  if (line.used() + line.held() < taken && !std::exchange(quota.opened, true)) {
    news_.opened.push_back(id);
  }
  for (std::size_t i = 0; i < pools; ++i) tell_of(was[i]);
}

void Ledger::tell_of(const PoolWas& was) {
  const Pool& pool = *was.pool;
  report_.changed(pool.id);
  bool gives_more = pool.left() > was.left || (pool.bounded && pool.used < was.used);
  if (pool.above != nullptr) {
    report_.changed(pool.parent);
    const bool by_limit = pool.is_claimed_beyond_limit() && pool.above->in_use() != was.in_use;
    if (pool.left() != was.left || by_limit) parent_changed(pool.parent);
    gives_more = gives_more || (by_limit && pool.above->in_use() < was.in_use);
  }
  if (!gives_more) return;
  if (!pool.gives()) return;
  if (std::find(news_.pools.begin(), news_.pools.end(), pool.id) == news_.pools.end()) {
    news_.pools.push_back(pool.id);
  }
}

News Ledger::take_news() {
  arrange();
  for (const QuotaId id : news_.accounts) quotas_.at(id).changed = quotas_.at(id).opened = false;
  return std::exchange(news_, {});
}

std::vector<QuotaId> Ledger::counting(const std::string& namespace_) const {
  std::vector<QuotaId> all;
  const QuotaId own = quota_of(namespace_);
  if (own < kFirstQuota) return all;
  all.push_back(own);
  arrange();
  while (const auto outer = quotas_.at(all.back()).parent) all.push_back(*outer);
  return all;
}

std::vector<QuotaId> Ledger::selecting_without_effect(const std::string& namespace_) const {
  std::vector<QuotaId> others = assignment_.selecting_without_effect(namespace_);
  const std::vector<QuotaId> own = counting(namespace_);
  std::erase_if(others,
                [&](QuotaId id) { return std::find(own.begin(), own.end(), id) != own.end(); });
  return others;
}

}  // namespace sched::quota
