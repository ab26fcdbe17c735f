// What the ledger keeps: quotas, charges, and which charge belongs to which quota.
#include "scheduler/quota/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sched::quota {

Charge::Charge(Ledger& ledger, Pod pod, NodeSlot node, Demand demand)
    : ledger_(ledger), pod_(std::move(pod)), node_(node), demand_(std::move(demand)) {
  ledger_.add(*this);
}

Charge::~Charge() { ledger_.remove(*this); }

Ledger::Ledger(Options options) : options_(options), assignment_(std::move(options)) {
  Quota nothing;
  nothing.lines.emplace_back(LineSpec{}, nullptr);
  quotas_.emplace(kNothingQuota, std::move(nothing));
}

bool Ledger::upsert(const k8s::GpuQuota& quota) {
  const bool moved = assignment_.upsert(quota);
  const auto [found, is_new] = quotas_.try_emplace(assignment_.id_of(quota.metadata.name));
  Quota& known = found->second;
  const bool renewed = known.uid != quota.metadata.uid;
  if (known.generation != quota.metadata.generation || renewed) {
    ++version_;
    status_changed_.insert(assignment_.id_of(quota.metadata.name));
  }
  const bool was_deleted = deleted_.erase(assignment_.id_of(quota.metadata.name)) > 0;
  const bool opened = known.opens_when_deleted;
  known.opens_when_deleted = quota.spec.when_deleted == k8s::GpuQuota::WhenDeleted::kOpen;
  if (is_new || moved || was_deleted || opened != known.opens_when_deleted) ++memory_version_;
  known.name = quota.metadata.name;
  known.uid = quota.metadata.uid;
  known.generation = quota.metadata.generation;

  auto spec = spec_of(quota);
  std::optional<std::string> error;
  if (!spec) error = spec.error().message;
  Spec now = spec ? *std::move(spec) : Spec{};
  if (!is_new && !was_deleted && !moved && known.said == now && known.error == error) return false;
  known.said = std::move(now);
  known.error = std::move(error);
  rebuild();
  return moved || is_new || was_deleted;
}

bool Ledger::erase(const std::string& quota, Time now) {
  const QuotaId id = assignment_.id_of(quota);
  if (!has(id)) return false;
  Quota& known = at(id);
  if (known.opens_when_deleted || options_.closed_after_deletion.count() == 0) {
    forget(id);
  } else {
    assignment_.keep_deleted(quota);
    deleted_.emplace(id, now);
    ++memory_version_;
    known.said = {};
    known.error.reset();
  }
  status_changed_.insert(id);
  rebuild();
  return true;
}

bool Ledger::remember(const k8s::GpuQuota& quota, Time now) {
  const QuotaId id = assignment_.id_of(quota.metadata.name);
  if (has(id) || deleted_.contains(id)) return false;
  upsert(quota);
  return erase(quota.metadata.name, quota.metadata.deletion_timestamp.value_or(now));
}

std::vector<k8s::GpuQuota> Ledger::memory() const {
  std::vector<k8s::GpuQuota> all;
  for (const auto& [id, quota] : quotas_) {
    if (id == kNothingQuota) continue;
    k8s::GpuQuota& each = all.emplace_back(assignment_.selection_of(id));
    if (quota.opens_when_deleted) each.spec.when_deleted = k8s::GpuQuota::WhenDeleted::kOpen;
    if (const auto deleted = deleted_.find(id); deleted != deleted_.end()) {
      each.metadata.deletion_timestamp = deleted->second;
    }
  }
  return all;
}

void Ledger::forget(QuotaId id) {
  ++memory_version_;
  assignment_.erase(at(id).name);
  deleted_.erase(id);
  quotas_.erase(id);
}

bool Ledger::forget_deleted(Time now) {
  std::vector<QuotaId> over;
  for (const auto& [id, at] : deleted_) {
    if (until(at) <= now && deleted(id)->used.is_zero()) over.push_back(id);
  }
  if (over.empty()) return false;
  for (const QuotaId id : over) forget(id);
  rebuild();
  return true;
}

std::optional<Time> Ledger::next_forgotten() const {
  std::optional<Time> next;
  for (const auto& [id, at] : deleted_) {
    if (deleted(id)->used.is_zero() && (!next || until(at) < *next)) next = until(at);
  }
  return next;
}

std::optional<Ledger::Deleted> Ledger::deleted(QuotaId id) const {
  const auto found = deleted_.find(id);
  if (found == deleted_.end()) return std::nullopt;
  return Deleted{.until = until(found->second), .used = at(id).lines.back().used()};
}

bool Ledger::upsert(const k8s::Namespace& object) {
  const bool moved = assignment_.namespace_labels(object.metadata.name, object.metadata.labels);
  if (moved) recount(object.metadata.name);
  ++version_;  // the namespaces that quotas select in vain
  return moved;
}

bool Ledger::erase_namespace(const std::string& name) {
  const bool moved = assignment_.namespace_gone(name);
  if (moved) recount(name);
  ++version_;
  return moved;
}

// The namespace belongs to another quota than its charges do.
void Ledger::recount(const std::string& namespace_) {
  const auto found = in_namespace_.find(namespace_);
  if (found == in_namespace_.end()) return;
  const QuotaId id = quota_of(namespace_);
  for (Charge* charge : found->second) {
    uncount(*charge);
    count(*charge, id);
  }
}

void Ledger::node_is(NodeSlot node, ChargeClassId id, GpuShare offers) {
  if (node >= class_of_node_.size()) {
    class_of_node_.resize(node + std::size_t{1}, kNoGpuClass);
    on_node_.resize(node + std::size_t{1});
  }
  offered_by_node_.resize(class_of_node_.size());
  ChargeClassId& known = class_of_node_[node];
  if (known != id || offered_by_node_[node] != offers) {
    offered_.resize(classes_.size());
    offered_[known] -= offered_by_node_[node];
    offered_[id] += offers;
    offered_by_node_[node] = offers;
    covers_stale_ = true;
  }
  if (known == id) return;
  const std::uint64_t classes_before = classes_.version();
  if (known != kNoGpuClass) classes_.remove_node(known);
  if (id != kNoGpuClass) classes_.add_node(id);
  for (Charge* charge : on_node_[node]) uncount(*charge);
  known = id;
  for (Charge* charge : on_node_[node]) count(*charge);
  if (classes_.version() == classes_before) return;
  // A type more to choose from, or a type less to wait for.
  ++version_;
  ++terms_version_;
  news_.terms = true;
  for (const auto& entry : quotas_) status_changed_.insert(entry.first);
}

GpuShare Ledger::offer_of(const NodeFacts& node, const ResourceNames& names) const {
  std::vector<ResourceAmount> all;
  node.allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (amount > 0) all.push_back({id, amount});
  });
  return charge_of(demand_of(all, names), classes_[node.charge_class]);
}

bool Ledger::in_force() const {
  return quotas_.size() > 1 || options_.without_quota == WithoutQuota::kNone ||
         options_.without_quota == WithoutQuota::kNamed;
}

void Ledger::add(Charge& charge) {
  if (charge.node_ >= class_of_node_.size()) {
    class_of_node_.resize(charge.node_ + std::size_t{1}, kNoGpuClass);
    on_node_.resize(charge.node_ + std::size_t{1});
  }
  auto& neighbours = in_namespace_[charge.pod_.namespace_];
  charge.in_namespace_ = neighbours.size();
  neighbours.push_back(&charge);
  auto& on_node = on_node_[charge.node_];
  charge.on_node_ = on_node.size();
  on_node.push_back(&charge);
  count(charge);
}

void Ledger::remove(Charge& charge) {
  uncount(charge);
  const auto found = in_namespace_.find(charge.pod_.namespace_);
  auto& neighbours = found->second;
  neighbours.back()->in_namespace_ = charge.in_namespace_;
  neighbours[charge.in_namespace_] = neighbours.back();
  neighbours.pop_back();
  if (neighbours.empty()) in_namespace_.erase(found);
  auto& on_node = on_node_[charge.node_];
  on_node.back()->on_node_ = charge.on_node_;
  on_node[charge.on_node_] = on_node.back();
  on_node.pop_back();
}

void Ledger::count(Charge& charge, QuotaId id) {
  if (id == kUnlimitedQuota) return;
  Quota& quota = at(id);
  map_classes(quota);
  const ChargeClassId on = class_of_node_[charge.node_];
  charge.quota_ = id;
  const std::string& noted = charge.charged_as();
  if (classes_[on].product.name.empty() && !noted.empty()) {
    const ChargeClass gpus{.product = gpu::parse_product(noted).product};
    charge.line_ = line_for(quota.spec.lines, gpus.product);
    charge.amount_ = charge_of(charge.demand_, gpus);
  } else {
    charge.line_ = quota.line_of[on];
    charge.amount_ = charge_of(charge.demand_, classes_[on]);
  }
  change(id, quota, charge.line_, &Line::charge, charge.amount_);
}

void Ledger::uncount(Charge& charge) {
  if (!charge.quota_) return;
  const QuotaId id = *charge.quota_;
  change(id, at(id), charge.line_, &Line::refund, charge.amount_);
  charge.quota_ = std::nullopt;
  charge.amount_ = {};
}

// Builds everything again. Holds are dropped; the caller asks for them again.
void Ledger::rebuild() {
  pools_.clear();
  inner_pools_.clear();
  lending_.clear();
  stale_pools_.clear();
  news_ = {.terms = true};
  const std::vector<QuotaId> order = place_quotas();
  for (const QuotaId id : order) {
    Quota& quota = at(id);
    status_changed_.insert(id);
    quota.changed = quota.opened = false;
    quota.held.clear();
    quota.line_of.clear();
    make_lines(id, quota);
  }
  list_lenders();
  list_lent_apart();
  covers_stale_ = true;
  for (auto& [name, charges] : in_namespace_) {
    const QuotaId id = quota_of(name);
    for (Charge* charge : charges) {
      charge->quota_ = std::nullopt;
      count(*charge, id);
    }
  }
  ++version_;
  ++terms_version_;
}

std::vector<QuotaId> Ledger::place_quotas() {
  std::map<std::string, QuotaId> by_name;
  for (auto& [id, quota] : quotas_) {
    if (id != kNothingQuota) by_name.emplace(quota.name, id);
    quota.spec = quota.said;
    quota.misplaced = std::nullopt;
    quota.parent = std::nullopt;
    quota.children.clear();
  }
  const auto misplace = [](Quota& quota, std::string why) {
    quota.spec = {};
    quota.misplaced = "spec.parent: " + std::move(why);
  };
  // By level, the outermost first. What is left at the end is in a circle, or too deep.
  std::vector<QuotaId> order;
  std::map<QuotaId, std::vector<QuotaId>> said_to_be_in;
  for (auto& [id, quota] : quotas_) {
    const std::string& parent = quota.said.parent;
    if (parent.empty()) {
      order.push_back(id);
    } else if (const auto found = by_name.find(parent); found != by_name.end()) {
      said_to_be_in[found->second].push_back(id);
    } else {
      misplace(quota, fmt::format("there is no quota {}", parent));
      order.push_back(id);
    }
  }
  std::size_t from = 0;
  for (std::size_t level = 1; level <= kMostLevels; ++level) {
    for (const std::size_t to = order.size(); from < to; ++from) {
      const QuotaId parent = order[from];
      for (const QuotaId id : said_to_be_in[parent]) {
        Quota& quota = at(id);
        order.push_back(id);
        if (level == kMostLevels) {
          misplace(quota, fmt::format("quotas may be in each other {} deep", kMostLevels));
        } else if (auto objection = objection_to(quota.said, parent)) {
          misplace(quota, *std::move(objection));
        } else {
          quota.parent = parent;
          at(parent).children.push_back(id);
        }
      }
      said_to_be_in.erase(parent);
    }
  }
  for (const auto& [parent, ids] : said_to_be_in) {
    for (const QuotaId id : ids) {
      misplace(at(id), fmt::format("quota {} is in itself, or more than {} deep in others",
                                   at(parent).name, kMostLevels));
      order.push_back(id);
    }
  }
  return order;
}

std::optional<std::string> Ledger::objection_to(const Spec& child, QuotaId id) const {
  const Quota& parent = at(id);
  if (parent.misplaced || parent.error || deleted_.contains(id)) {
    return fmt::format("quota {} is not in force itself", parent.name);
  }
  for (const LineSpec& line : child.lines) {
    if (line_above(parent.spec.lines, line) != parent.spec.lines.size()) continue;
    return fmt::format("quota {} has no line for {}", parent.name, line.gpu_type);
  }
  return std::nullopt;
}

void Ledger::make_lines(QuotaId id, Quota& quota) {
  quota.lines.clear();
  // The lines of child quotas keep the addresses of these lines.
  quota.lines.reserve(quota.spec.lines.size() + 1);
  quota.inner.assign(quota.spec.lines.size() + 1, nullptr);
  for (const LineSpec& line : quota.spec.lines) {
    const bool is_alone = !quota.parent && quota.spec.cohort.empty();
    quota.lines.emplace_back(line, is_alone ? nullptr : &pool_of(quota, line));
  }
  quota.lines.emplace_back(LineSpec{}, nullptr);
  if (quota.children.empty()) return;
  for (std::size_t i = 0; i < quota.spec.lines.size(); ++i) {
    Pool& pool = inner_pools_[{id, i}];
    pool.id = static_cast<PoolId>(lending_.size());
    pool.above = &quota.lines[i];
    pool.parent = id;
    pool.parent_line = i;
    pool.bounded = options_.bound_cohorts;
    pool.overpromised = promised_in(quota, i) > quota.spec.lines[i].guaranteed;
    lending_.push_back({.pool = &pool, .lenders = {}});
    quota.inner[i] = &pool;
  }
}

GpuShare Ledger::promised_in(const Quota& parent, std::size_t index) const {
  GpuShare sum;
  for (const QuotaId id : parent.children) {
    for (const LineSpec& line : at(id).spec.lines) {
      if (line_above(parent.spec.lines, line) == index) sum += line.guaranteed;
    }
  }
  return sum;
}

Pool& Ledger::pool_of(const Quota& quota, const LineSpec& line) {
  if (quota.parent) {
    const Quota& parent = at(*quota.parent);
    return *parent.inner[line_above(parent.spec.lines, line)];
  }
  const auto [found, is_new] = pools_.try_emplace({quota.spec.cohort, line.type_key});
  Pool& pool = found->second;
  if (is_new) {
    pool.id = static_cast<PoolId>(lending_.size());
    pool.cohort = quota.spec.cohort;
    pool.bounded = options_.bound_cohorts;
    lending_.push_back({.pool = &pool, .lenders = {}});
  }
  return pool;
}

void Ledger::map_classes(Quota& quota) const {
  while (quota.line_of.size() < classes_.size()) {
    const auto id = static_cast<ChargeClassId>(quota.line_of.size());
    quota.line_of.push_back(line_for(quota.spec.lines, classes_[id].product));
  }
}

void Ledger::changed(QuotaId id, Quota& quota) {
  if (!std::exchange(quota.changed, true)) news_.accounts.push_back(id);
}

void Ledger::parent_changed(QuotaId parent) {
  for (const QuotaId id : at(parent).children) {
    Quota& child = at(id);
    changed(id, child);
    if (!child.children.empty()) parent_changed(id);
  }
}

void Ledger::change(QuotaId id, Quota& quota, std::size_t index, void (Line::*how)(GpuShare),
                    GpuShare amount) {
  Line& line = quota.lines[index];
  const GpuShare taken = line.used() + line.held();
  // The line's own pool, and the pools that this one borrows from.
  struct Was {
    const Pool* pool = nullptr;
    GpuShare left{};
    GpuShare used{};
  };
  std::array<Was, kMostLevels> was;
  std::size_t pools = 0;
  for (const Pool* pool = line.pool(); pool != nullptr; pool = pool->outer()) {
    was[pools++] = {pool, pool->left(), pool->used};
  }
  (line.*how)(amount);
  ++version_;
  status_changed_.insert(id);
  changed(id, quota);
  if (line.used() + line.held() < taken && !std::exchange(quota.opened, true)) {
    news_.opened.push_back(id);
  }
  for (std::size_t i = 0; i < pools; ++i) tell_of(*was[i].pool, was[i].left, was[i].used);
}

void Ledger::tell_of(const Pool& pool, GpuShare left, GpuShare used) {
  if (!std::exchange(lending_[pool.id].stale, true)) stale_pools_.push_back(pool.id);
  if (pool.above != nullptr) {
    status_changed_.insert(pool.parent);
    if (pool.left() != left) parent_changed(pool.parent);
  }
  if (pool.left() <= left && !(pool.bounded && pool.used < used)) return;
  if (!pool.gives()) return;
  if (std::find(news_.pools.begin(), news_.pools.end(), pool.id) == news_.pools.end()) {
    news_.pools.push_back(pool.id);
  }
}

News Ledger::take_news() {
  for (const QuotaId id : news_.accounts) at(id).changed = at(id).opened = false;
  return std::exchange(news_, {});
}

const Ledger::Quota& Ledger::at(QuotaId quota) const {
  const auto found = quotas_.find(quota);
  return found == quotas_.end() ? quotas_.find(kNothingQuota)->second : found->second;
}

Ledger::Quota& Ledger::at(QuotaId quota) {
  return const_cast<Quota&>(static_cast<const Ledger&>(*this).at(quota));
}

std::optional<QuotaId> Ledger::find(const std::string& name) const {
  for (const auto& [id, quota] : quotas_) {
    if (id != kNothingQuota && quota.name == name && has(id)) return id;
  }
  return std::nullopt;
}

std::vector<QuotaId> Ledger::counting(const std::string& namespace_) const {
  std::vector<QuotaId> all;
  const QuotaId own = quota_of(namespace_);
  if (own < kFirstQuota) return all;
  all.push_back(own);
  while (const auto outer = at(all.back()).parent) all.push_back(*outer);
  return all;
}

std::vector<QuotaId> Ledger::in_vain(const std::string& namespace_) const {
  std::vector<QuotaId> others = assignment_.in_vain(namespace_);
  const std::vector<QuotaId> own = counting(namespace_);
  std::erase_if(others,
                [&](QuotaId id) { return std::find(own.begin(), own.end(), id) != own.end(); });
  return others;
}

std::vector<QuotaId> Ledger::quotas() const {
  std::vector<QuotaId> all;
  for (const auto& [id, quota] : quotas_) {
    if (id != kNothingQuota && has(id)) all.push_back(id);
  }
  std::sort(all.begin(), all.end(),
            [this](QuotaId a, QuotaId b) { return at(a).name < at(b).name; });
  return all;
}

}  // namespace sched::quota
