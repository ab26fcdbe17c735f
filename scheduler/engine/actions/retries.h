// When groups that have found no room are tried again.
//
// An attempt that fails costs as much as one that succeeds, and a change may wake many groups. So
// these attempts have an allowance. Groups that come when nothing is left of it are postponed. They
// get what is left next, one after the other: each namespace in turn, and in each the group that
// was postponed first. So a namespace with many large groups does not keep those of others from
// being tried.
#pragma once

#include "scheduler/base/allowance.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/world/waiting_pod.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace sched {

class Retries {
 public:
  // `groups` outlives it.
  explicit Retries(const PodGroups& groups) : groups_(groups) {}

  // Call it when the group has its turn, for whatever reason. Returns whether next() gave it that
  // turn.
  [[nodiscard]] bool has_turn(const WaitingGroup& group);
  // Whether a group without such a turn may be tried now. Else it is postponed.
  [[nodiscard]] bool may_try(WaitingGroup& group, Time now);
  // Reports the cost of an attempt of a group that had been tried before: how many nodes were
  // asked.
  void spend(std::size_t answers) { allowance_.spend(answers); }

  // The group that is to have a turn now; null: there is none, or the last one has not had its turn
  // yet.
  [[nodiscard]] WaitingGroup* next(Time now);
  // When there will be one even if nothing happens; nullopt: never.
  [[nodiscard]] std::optional<Time> due() const;

 private:
  // About a tenth of a processor.
  static constexpr std::int64_t kAnswersPerSecond = 500'000;

  // Takes out the first that still waits; null: there is none.
  [[nodiscard]] WaitingGroup* take_first();

  const PodGroups& groups_;
  Allowance allowance_{kAnswersPerSecond};
  std::map<std::uint64_t, std::deque<std::uint32_t>> postponed_;  // kinds, by tenant; none is empty
  std::uint64_t last_tenant_ = 0;
  std::optional<std::uint32_t> turn_of_;  // its kind
};

}  // namespace sched
