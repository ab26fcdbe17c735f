// Messages about a pod's quota, in numbers.
#pragma once

#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <string>

namespace sched {

class QuotaWords {
 public:
  // All borrowed things outlive it.
  QuotaWords(const World& world, const Queues& queue, const Holds& holds)
      : world_(world), queue_(queue), holds_(holds) {}

  struct Question {
    quota::QuotaId quota{};
    const quota::Demand& demand;
    const std::string& namespace_;
    const Entity* waiting = nullptr;         // null: the question is about a hypothetical pod
    const quota::LedgerTrial* in = nullptr;  // null: as the accounts are
  };
  // "quota team-vision: H100 needs 4, 14 of 16 in use …, first in line; …".
  [[nodiscard]] std::string of(const Question& question) const;
  // The same for an entity that waits for its quota.
  [[nodiscard]] std::string of(const Entity& entity) const;
  // Why the quota of that namespace gives its pods nothing, whatever is free; empty: it may.
  [[nodiscard]] std::string without(quota::QuotaId quota, const std::string& namespace_) const;
  // For an entity that waits behind another one of its Strict quota.
  [[nodiscard]] std::string behind(const Entity& entity) const;

 private:
  const World& world_;
  const Queues& queue_;
  const Holds& holds_;
};

}  // namespace sched
