// What the tests of queues share: accounts that say what a test says, and count how often they were
// asked; entities with a name; the time at which tests start.
#pragma once

#include "scheduler/queue/accounts.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched {

inline constexpr Time kStart{std::chrono::seconds(1'000)};

using Names = std::vector<std::string>;

// An entity that a test can tell from others.
struct Named : Entity {
  std::string name;
};
inline const std::string& name_of(const Entity& entity) {
  return static_cast<const Named&>(entity).name;
}

struct FixedAccounts final : Accounts {
  // What is said.
  std::map<QueueId, int> used;     // GPUs, of a guarantee of one; the least is first
  std::set<QueueId> within;        // those with heads within the guarantee
  std::set<const Entity*> borrow;  // heads that are not, though others of their queue are
  std::map<QueueId, std::vector<quota::PoolId>> pools;
  std::map<quota::PoolId, int> left;  // GPUs to lend
  std::function<std::optional<WaitsFor>(const Entity&)> obstacle_of;
  std::function<std::optional<WaitsFor>(const Entity&)> known_obstacle_of;  // empty: none is known
  std::uint64_t nodes_searched = 0;

  // How often it was.
  mutable int standings = 0;
  int obstacles = 0;

  [[nodiscard]] quota::Standing standing(const Entity& head) const override {
    ++standings;
    if (head.borrows_at) return *head.borrows_at;
    const bool is_within = within.contains(head.queue) && !borrow.contains(&head);
    return is_within ? quota::Standing{} : as_borrower(head.queue);
  }
  [[nodiscard]] quota::Standing as_borrower(QueueId queue) const {
    const auto known = used.find(queue);
    return beyond(known == used.end() ? 0 : known->second);
  }
  [[nodiscard]] static quota::Standing beyond(int gpus) {
    const quota::Standing::Share share{.tier = quota::Standing::Tier::kBorrower,
                                       .beyond = quota::GpuShare::gpus(gpus),
                                       .weight = quota::GpuShare::gpus(1)};
    return {.levels = {share}};
  }
  [[nodiscard]] std::vector<quota::InPool> in_pools(QueueId queue) const override {
    std::vector<quota::InPool> all;
    const auto known = pools.find(queue);
    if (known == pools.end()) return all;
    for (const quota::PoolId pool : known->second) all.push_back({pool, as_borrower(queue)});
    return all;
  }
  [[nodiscard]] bool lends(quota::PoolId pool) const override {
    const auto known = left.find(pool);
    return known != left.end() && known->second > 0;
  }
  [[nodiscard]] std::uint64_t searched() const override { return nodes_searched; }
  [[nodiscard]] std::optional<WaitsFor> known_obstacle(const Entity& parked) override {
    return known_obstacle_of ? known_obstacle_of(parked) : std::nullopt;
  }
  [[nodiscard]] std::optional<WaitsFor> obstacle(const Entity& parked) override {
    ++obstacles;
    return obstacle_of(parked);
  }
};

}  // namespace sched
