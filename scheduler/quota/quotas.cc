#include "scheduler/quota/quotas.h"

#include <fmt/format.h>

#include <algorithm>

namespace sched::quota {
Quotas::Quotas(const Options& options, const ChargeClasses& classes)
    : classes_(classes), bound_cohorts_(options.bound_cohorts) {
  quotas_[kNothingQuota].lines.emplace_back(LineSpec{}, nullptr);
}

std::pair<Quota&, bool> Quotas::add(QuotaId id) {
  const auto [found, is_new] = quotas_.try_emplace(id);
  const bool was_deleted = deleted_.erase(id) > 0;
  return {found->second, is_new || was_deleted};
}

void Quotas::erase(QuotaId id) {
  deleted_.erase(id);
  quotas_.erase(id);
}

const Quota& Quotas::at(QuotaId id) const {
  const auto found = quotas_.find(id);
  return found == quotas_.end() ? quotas_.find(kNothingQuota)->second : found->second;
}

Quota& Quotas::at(QuotaId id) {
  return const_cast<Quota&>(static_cast<const Quotas&>(*this).at(id));
}

std::optional<QuotaId> Quotas::find(const std::string& name) const {
  for (const auto& [id, quota] : quotas_) {
    if (id != kNothingQuota && quota.name == name && has(id)) return id;
  }
  return std::nullopt;
}

std::vector<QuotaId> Quotas::by_name() const {
  std::vector<QuotaId> all;
  for (const auto& [id, quota] : quotas_) {
    if (id != kNothingQuota && has(id)) all.push_back(id);
  }
  std::sort(all.begin(), all.end(),
            [this](QuotaId a, QuotaId b) { return at(a).name < at(b).name; });
  return all;
}

void Quotas::arrange() {
  pools_.clear();
  inner_pools_.clear();
  by_id_.clear();
  for (const QuotaId id : find_parents()) {
    Quota& quota = at(id);
    quota.held.clear();
    quota.line_of.clear();
    quota.changed = quota.opened = false;
    make_lines(id, quota);
  }
  for (auto& [id, quota] : quotas_) {
    for (Line& line : quota.lines) line.all_made();
  }
}

std::vector<QuotaId> Quotas::find_parents() {
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

std::optional<std::string> Quotas::objection_to(const Spec& child, QuotaId id) const {
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

void Quotas::make_lines(QuotaId id, Quota& quota) {
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
    Pool& pool = number(inner_pools_[{id, i}]);
    pool.above = &quota.lines[i];
    pool.parent = id;
    pool.parent_line = i;
    pool.overpromised = promised_in(quota, i) > quota.spec.lines[i].guaranteed;
    quota.inner[i] = &pool;
  }
}

GpuShare Quotas::promised_in(const Quota& parent, std::size_t index) const {
  GpuShare sum;
  for (const QuotaId id : parent.children) {
    for (const LineSpec& line : at(id).spec.lines) {
      if (line_above(parent.spec.lines, line) == index) sum += line.guaranteed;
    }
  }
  return sum;
}

Pool& Quotas::pool_of(const Quota& quota, const LineSpec& line) {
  if (quota.parent) {
    const Quota& parent = at(*quota.parent);
    return *parent.inner[line_above(parent.spec.lines, line)];
  }
  const auto [found, is_new] = pools_.try_emplace({quota.spec.cohort, line.type_key});
  if (is_new) number(found->second).cohort = quota.spec.cohort;
  return found->second;
}

Pool& Quotas::number(Pool& pool) {
  pool.id = static_cast<PoolId>(by_id_.size());
  pool.bounded = bound_cohorts_;
  by_id_.push_back(&pool);
  return pool;
}

std::size_t Quotas::line_of(Quota& quota, ChargeClassId on) {
  while (quota.line_of.size() < classes_.size()) {
    const auto id = static_cast<ChargeClassId>(quota.line_of.size());
    quota.line_of.push_back(line_for(quota.spec.lines, classes_[id].product));
  }
  return quota.line_of[on];
}

}  // namespace sched::quota
