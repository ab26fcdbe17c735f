// A ledger with quotas that are in each other, and what is charged to them.
#pragma once

#include "scheduler/quota/ledger.h"
#include "scheduler/quota/message.h"
#include "tests/support/builders.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tests {

inline constexpr sched::Time kNow{std::chrono::seconds(1'000)};

// A ledger with one node of H100 (slot 0) and one of L4 (slot 1).
class Tree {
 public:
  explicit Tree(bool bound_cohorts = false) : ledger_(options(bound_cohorts)) {
    for (const auto& [slot, product] : {std::pair{sched::NodeSlot{0}, "NVIDIA-H100-80GB-HBM3"},
                                        std::pair{sched::NodeSlot{1}, "NVIDIA-L4"}}) {
      const k8s::Node node = tests::node("n").gpus(8).product(product);
      classes_[slot] = ledger_.intern(sched::facts_of(node, names_), names_);
      ledger_.node_is(slot, classes_[slot], sched::quota::GpuShare::gpus(64));
    }
  }
  sched::quota::Ledger& ledger() { return ledger_; }
  const sched::quota::Ledger& ledger() const { return ledger_; }
  void has(const k8s::GpuQuota& quota) { ledger_.upsert(quota); }
  sched::quota::QuotaId id(const std::string& namespace_) const {
    return ledger_.quota_of(namespace_);
  }

  sched::quota::Room room(const std::string& namespace_, std::int64_t gpus,
                          sched::NodeSlot on = 0) const {
    const sched::quota::Admission admission = ledger_.answers().admit(
        id(namespace_), sched::quota::Demand{.gpus = gpus}, sched::quota::kNoHold);
    const auto has = [&](const std::vector<sched::quota::ChargeClassId>& classes) {
      return std::find(classes.begin(), classes.end(), classes_[on]) != classes.end();
    };
    return has(admission.within)      ? sched::quota::Room::kGuaranteed
           : has(admission.borrowing) ? sched::quota::Room::kBorrowed
                                      : sched::quota::Room::kNone;
  }
  // How many GPUs the namespace may have more, one by one, and nothing is left of it.
  int most(const std::string& namespace_, sched::NodeSlot on = 0) {
    const std::size_t before = charges_.size();
    while (room(namespace_, 1, on) != sched::quota::Room::kNone) use(namespace_, 1, on);
    const std::size_t got = charges_.size() - before;
    charges_.resize(before);
    return static_cast<int>(got);
  }
  sched::quota::Charge& use(const std::string& namespace_, std::int64_t gpus,
                            sched::NodeSlot on = 0) {
    charges_.push_back(std::make_unique<sched::quota::Charge>(
        ledger_, sched::quota::Charge::Pod{std::to_string(++uids_), namespace_, {}, kNow}, on,
        sched::quota::Demand{.gpus = gpus}));
    return *charges_.back();
  }
  void end(std::size_t charge) {
    charges_.erase(charges_.begin() + static_cast<std::ptrdiff_t>(charge));
  }
  std::string account(const std::string& quota, std::size_t line = 0) const {
    for (const sched::quota::QuotaId each : ledger_.quotas().by_name()) {
      if (ledger_.name_of(each) != quota) continue;
      const k8s::GpuQuota::Use use = ledger_.report().status(each, {}).quotas.at(line).use;
      return use.used.to_string() + " of " + use.guaranteed.to_string() + ", borrowed " +
             use.borrowed.to_string() + ", lent " + use.lent.to_string();
    }
    return "no such quota";
  }
  std::string condition(const std::string& quota, const std::string& type) const {
    for (const sched::quota::QuotaId each : ledger_.quotas().by_name()) {
      if (ledger_.name_of(each) != quota) continue;
      for (const k8s::Condition& is : ledger_.report().status(each, {}).conditions) {
        if (is.type == type) return is.status + " " + is.message;
      }
    }
    return "none";
  }
  std::string message(const std::string& namespace_, std::int64_t gpus) const {
    const sched::quota::QuotaId quota = id(namespace_);
    sched::quota::Demand demand{.gpus = gpus};
    demand.allowed.types = {sched::gpu::parse_type_name("H100")};
    return sched::quota::waiting_message(
        ledger_.name_of(quota), ledger_.answers().by_line(quota, demand, sched::quota::kNoHold), 0);
  }
  // Takes the news. Whether the quota is told that it may have more now, and where it stands.
  bool told_to(const std::string& namespace_) {
    const sched::quota::News news = ledger_.take_news();
    const sched::quota::QuotaId quota = id(namespace_);
    const auto pools = ledger_.answers().in_pools(quota);
    return std::find(news.accounts.begin(), news.accounts.end(), quota) != news.accounts.end() &&
           std::any_of(pools.begin(), pools.end(), [&](const sched::quota::InPool& in) {
             return ledger_.answers().lends(in.pool) &&
                    std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
           });
  }
  std::vector<std::unique_ptr<sched::quota::Charge>>& charges() { return charges_; }
  const std::array<sched::quota::ChargeClassId, 2>& classes() const { return classes_; }

 private:
  static sched::quota::Options options(bool bound_cohorts) {
    sched::quota::Options made;
    made.bound_cohorts = bound_cohorts;
    return made;
  }
  sched::ResourceNames names_;
  sched::quota::Ledger ledger_;
  std::array<sched::quota::ChargeClassId, 2> classes_{};
  std::vector<std::unique_ptr<sched::quota::Charge>> charges_;
  std::uint64_t uids_ = 0;
};

// The quota of a namespace that is called as it is.
inline GpuQuotaBuilder team(const std::string& name, const std::string& parent) {
  return gpu_quota(name).of(name).in_quota(parent);
}

}  // namespace tests
