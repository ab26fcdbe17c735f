// The present advice about MIG configurations, and when to search again.
//
// A search goes over the nodes and makes up to two thousand trials. So it is done only while pods
// wait for MIG instances, only after something has changed, and at most once per interval. Advice
// is reported when it is new or has changed; it stays until a search finds otherwise.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/engine/decision.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace sched {

class RepartitionAdvice {
 public:
  // What a search depends on. If equal, the search would find the same.
  struct Input {
    ChangeLog::Position nodes = 0;
    std::uint64_t quotas = 0;    // their version
    std::size_t pods = 0;        // that wait and that no node takes
    std::uint64_t arrivals = 0;  // pods, ever
    std::uint64_t waits = 0;     // how often a pod came to wait for MIG instances, ever
    friend bool operator==(const Input&, const Input&) = default;
  };

  // `interval`: between two searches.
  explicit RepartitionAdvice(std::chrono::seconds interval) : interval_(interval) {}

  // A pod that asks for MIG instances fits nowhere.
  void pod_waits() {
    pods_wait_ = true;
    ++waits_;
  }
  // How often pod_waits() was called.
  [[nodiscard]] std::uint64_t waits() const { return waits_; }
  // When to search; nullopt: not before something happens. A time that is past: now.
  [[nodiscard]] std::optional<Time> due(const Input& input) const;
  // The result of a search. `pods_wait`: whether any pod waits for MIG instances.
  void found(std::vector<decision::MigRepartition> advice, bool pods_wait, const Input& input,
             Time now);
  // The next advice to report; nullopt: none.
  [[nodiscard]] std::optional<decision::MigRepartition> next();

  // By the last search: the nodes, and the pods that they would take.
  [[nodiscard]] std::size_t nodes() const { return advice_.size(); }
  [[nodiscard]] std::size_t pods() const;

 private:
  std::chrono::seconds interval_;
  bool pods_wait_ = false;
  std::uint64_t waits_ = 0;
  std::optional<Input> looked_at_;
  Time next_look_{};
  std::vector<decision::MigRepartition> advice_;
  std::deque<decision::MigRepartition> to_tell_;
};

}  // namespace sched
