#include "scheduler/quota/guarantee_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sched::quota {

void GuaranteeChecks::rebuild() {
  stale_ = true;
  lent_apart_.clear();
  std::map<std::string, std::vector<QuotaId>> cohorts;
  for (const QuotaId id : quotas_.by_name()) {
    if (!quotas_.at(id).spec.cohort.empty()) cohorts[quotas_.at(id).spec.cohort].push_back(id);
  }
  for (const auto& [cohort, members] : cohorts) {
    std::map<std::string, const LineSpec*> types;
    for (const QuotaId id : members) {
      for (const LineSpec& line : quotas_.at(id).spec.lines) types.emplace(line.type_key, &line);
    }
    for (const auto& [key, type] : types) {
      for (const auto& [other_key, other] : types) {
        if (key == other_key || (!includes(*type, *other) && !includes(*other, *type))) continue;
        list_lent_apart(members, *type, *other);
      }
    }
  }
}

void GuaranteeChecks::offers(ChargeClassId on, GpuShare before, GpuShare now) {
  if (on >= offered_.size()) offered_.resize(classes_.size());
  offered_[on] += now;
  offered_[on] -= before;
  stale_ = true;
}

const GuaranteeChecks::Cover* GuaranteeChecks::uncovered(const LineSpec& line) const {
  if (stale_) sum_up();
  const auto cover = covers_.find(line.type_key);
  return cover == covers_.end() ? nullptr : &cover->second;
}

std::vector<std::string> GuaranteeChecks::lent_apart(QuotaId quota) const {
  const auto found = lent_apart_.find(quota);
  return found == lent_apart_.end() ? std::vector<std::string>() : found->second;
}

std::set<QuotaId> GuaranteeChecks::take_changes() {
  if (stale_) sum_up();
  return std::exchange(changed_, {});
}

void GuaranteeChecks::sum_up() const {
  stale_ = false;
  struct Type {
    const LineSpec* line = nullptr;
    GpuShare guaranteed;  // by the lines of just this type
  };
  std::map<std::string, Type> types;
  for (const QuotaId id : quotas_.by_name()) {
    if (quotas_.at(id).parent) continue;  // a part of its parent's guarantee
    for (const LineSpec& line : quotas_.at(id).spec.lines) {
      Type& type = types[line.type_key];
      type.line = &line;
      type.guaranteed += line.guaranteed;
    }
  }
  std::map<std::string, Cover> covers;
  for (const auto& [key, type] : types) {
    Cover cover;
    for (const auto& [other_key, other] : types) {
      if (includes(*type.line, *other.line)) cover.guaranteed += other.guaranteed;
    }
    for (ChargeClassId on = kNoGpuClass + 1; on < offered_.size(); ++on) {
      if (names(*type.line, classes_[on].product)) cover.offered += offered_[on];
    }
    if (cover.guaranteed > cover.offered) covers.emplace(key, cover);
  }
  for (const QuotaId id : quotas_.by_name()) {
    const auto is_news = [&](const LineSpec& line) {
      const auto was = covers_.find(line.type_key);
      const auto is = covers.find(line.type_key);
      if (was == covers_.end() || is == covers.end()) {
        return (was == covers_.end()) != (is == covers.end());
      }
      return was->second != is->second;
    };
    const std::vector<LineSpec>& its = quotas_.at(id).spec.lines;
    if (std::any_of(its.begin(), its.end(), is_news)) changed_.insert(id);
  }
  covers_ = std::move(covers);
}

// Reports that some quotas of the cohort charge GPUs to a line of `type`, and others, which have no
// such line, charge the same GPUs to a line of `other`.
void GuaranteeChecks::list_lent_apart(const std::vector<QuotaId>& cohort, const LineSpec& type,
                                      const LineSpec& other) {
  const auto has = [&](QuotaId id, const LineSpec& what) {
    const std::vector<LineSpec>& lines = quotas_.at(id).spec.lines;
    return std::any_of(lines.begin(), lines.end(),
                       [&](const LineSpec& line) { return line.type_key == what.type_key; });
  };
  const auto find = [&](auto&& which) {
    const auto found = std::find_if(cohort.begin(), cohort.end(), which);
    return found == cohort.end() ? std::nullopt : std::optional(*found);
  };
  const auto some = find([&](QuotaId id) { return has(id, other); });
  const auto without = find([&](QuotaId id) { return has(id, other) && !has(id, type); });
  for (const QuotaId id : cohort) {
    if (!has(id, type)) continue;
    const auto apart = has(id, other) ? without : some;
    if (!apart) continue;
    lent_apart_[id].push_back(
        fmt::format("{} here and {} of quota {} are of the same GPUs, and lend each other nothing: "
                    "only lines of one gpuType do",
                    type.gpu_type, other.gpu_type, quotas_.at(*apart).name));
  }
}

}  // namespace sched::quota
