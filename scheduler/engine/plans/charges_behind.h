// The accounts without what is charged for later plans that make room.
//
// A pod for which room is made is charged beside the pods that leave for it. When a plan is checked
// for room, the charges of later plans must not count against it. After a change of quotas all
// plans are checked, in their order. So the accounts are kept from one check to the next, and from
// a plan to a later one, only the charges of the plans between them are put back. So the cost of
// checking all plans grows with their number, not with its square.
#pragma once

#include "scheduler/engine/world/world.h"
#include "scheduler/quota/ledger_trial.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sched {

class ChargesBehind {
 public:
  using PlanId = std::uint64_t;

  // `world` outlives it.
  explicit ChargesBehind(const World& world) : world_(world) {}

  // The plan makes room for the pod, and is the last / does not make room any more.
  void add(PlanId plan, std::string uid);
  void remove(PlanId plan);

  // The accounts without what is charged for the plans behind that one. Valid until plans or the
  // ledger change. The caller puts back what it takes away from them. O(plans), but for ascending
  // plans only all together.
  [[nodiscard]] quota::LedgerTrial& without(PlanId plan);

 private:
  [[nodiscard]] const quota::Charge* charge_of(const std::string& uid) const {
    return world_.pods.find(uid)->charged();
  }

  const World& world_;
  std::map<PlanId, std::string> plans_;      // the uids of their pods
  std::optional<quota::LedgerTrial> trial_;  // without the plans behind last_; nullopt: not made
  PlanId last_ = 0;
  std::uint64_t version_ = 0;  // the ledger's, for trial_
};

}  // namespace sched
