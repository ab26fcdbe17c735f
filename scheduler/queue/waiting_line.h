// The entities of one queue in the order of their turns, so that each entity's place in line can be
// reported.
#pragma once

#include "scheduler/queue/entity.h"

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

namespace sched {

class WaitingLine {
 public:
  using ByOrder = std::map<QueueOrder, Entity*>;

  // O(log entities) each. Joining again or leaving without having joined changes nothing.
  void join(Entity& entity) {
    if (entity.in_line) return;
    entity.in_line = true;
    entities_.insert({entity.order, &entity});
    Kind& kind = kinds_.try_emplace(key_of(entity), Kind{entity.demand, {}}).first->second;
    const auto joined = kind.members.emplace(entity.order, &entity).first;
    if (joined == kind.members.begin()) {
      if (const auto second = std::next(joined); second != kind.members.end()) {
        heads_.erase(second->first);
      }
      heads_.insert(*joined);
    }
    ++version_;
  }
  void leave(Entity& entity) {
    if (!entity.in_line) return;
    entity.in_line = false;
    entities_.erase(entity.order);
    const auto kind = kinds_.find(key_of(entity));
    ByOrder& members = kind->second.members;
    const auto left = members.find(entity.order);
    if (left == members.begin()) {
      heads_.erase(left->first);
      if (members.size() > 1) heads_.insert(*std::next(left));
    }
    members.erase(left);
    if (members.empty()) kinds_.erase(kind);
    ++version_;
  }

  // The entity with the first turn; null: none.
  [[nodiscard]] Entity* first() const {
    return entities_.empty() ? nullptr : entities_.begin()->second;
  }
  // The entity in line with that order; null: none.
  [[nodiscard]] Entity* find(const QueueOrder& order) const {
    const auto found = entities_.find(order);
    return found == entities_.end() ? nullptr : found->second;
  }
  // The first entity of each kind, in the order of their turns.
  [[nodiscard]] const ByOrder& heads() const { return heads_; }
  // The next of its kind behind this entity, which is in line; null: none. O(log entities).
  [[nodiscard]] Entity* next_alike(const Entity& entity) const {
    const ByOrder& members = kinds_.find(key_of(entity))->second.members;
    const auto behind = members.upper_bound(entity.order);
    return behind == members.end() ? nullptr : behind->second;
  }
  // Calls visit(entity) for each entity in line, in the order of their turns.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [order, entity] : entities_) visit(*entity);
  }
  // How many entities have their turn before this one, whether or not this one is in line.
  // O(log entities).
  [[nodiscard]] std::size_t before(const Entity& entity) const {
    return entities_.order_of_key(entity.order);
  }
  [[nodiscard]] std::size_t size() const { return entities_.size(); }

  // Grows when an entity joins or leaves.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // Calls visit(demand, count) for each kind of entity in line: what one entity asks for, and how
  // many there are. O(kinds).
  template <typename Visit>
  void for_each_kind(Visit&& visit) const {
    for (const auto& [key, kind] : kinds_) visit(kind.demand, kind.members.size());
  }

 private:
  struct Kind {
    quota::Demand demand;
    ByOrder members;  // not empty
  };
  // Profile, kind, and priority. Without the priority, heads of high priority, which may always be
  // young, would hide an older entity of low priority.
  using Key = std::tuple<std::size_t, std::uint32_t, std::int32_t>;
  static Key key_of(const Entity& entity) {
    return {entity.profile, entity.kind, entity.order.priority};
  }

  // A red-black tree with the size of its subtree in each node.
  using Tree = __gnu_pbds::tree<QueueOrder, Entity*, std::less<>, __gnu_pbds::rb_tree_tag,
                                __gnu_pbds::tree_order_statistics_node_update>;
  Tree entities_;
  std::map<Key, Kind> kinds_;
  ByOrder heads_;
  std::uint64_t version_ = 0;
};

}  // namespace sched
