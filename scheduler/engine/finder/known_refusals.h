// Which nodes are known to refuse which shapes, and how: a byte for each node and shape, those of
// several shapes side by side.
//
// With many shapes, nothing that is stored for a shape alone is still in the processor's cache when
// the shape is asked for again. But the nodes that changed since are those that the other shapes
// have just visited too. So what is read of every changed node is stored by node. Most of them
// refuse as before; then nothing else that is stored for the shape is read.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/engine/finder/node_answer.h"

#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sched {

// What is known of a node's refusal.
class KnownRefusal {
 public:
  // Nothing: the node takes the shape or does not exist, or its verdict's id is a large one.
  constexpr KnownRefusal() = default;
  // Whatever is taken on the node, it refuses until its facts change.
  static constexpr KnownRefusal by_facts() { return KnownRefusal(kByFacts); }
  // By what is taken on it, with this answer of a node that refuses.
  static constexpr KnownRefusal by_usage(NodeAnswer answer) {
    if (answer.verdict() > kMostVerdicts) return {};
    return KnownRefusal(
        static_cast<std::uint8_t>(kFirst + answer.verdict() * 2 + (answer.facts_pass() ? 1 : 0)));
  }

  [[nodiscard]] constexpr bool is_by_facts() const { return byte_ == kByFacts; }
  [[nodiscard]] constexpr bool is_by_usage() const { return byte_ >= kFirst; }
  // Of a refusal by usage; otherwise undefined.
  [[nodiscard]] constexpr NodeAnswer answer() const {
    return NodeAnswer::refused((byte_ - kFirst) / 2U, (byte_ - kFirst) % 2 == 1);
  }

  friend constexpr bool operator==(KnownRefusal, KnownRefusal) = default;

 private:
  static constexpr std::uint8_t kByFacts = 1;
  static constexpr std::uint8_t kFirst = 2;
  static constexpr VerdictCounts::Id kMostVerdicts = (255 - kFirst - 1) / 2;
  constexpr explicit KnownRefusal(std::uint8_t byte) : byte_(byte) {}

  std::uint8_t byte_ = 0;
};

// Those of one shape.
class KnownRefusals {
 public:
  // Gives each shape its place beside others.
  class Places;

  // A shape that has no others beside it.
  KnownRefusals() : KnownRefusals(std::make_shared<Table>(kFew)) {}
  KnownRefusals(KnownRefusals&& from) noexcept
      : table_(std::move(from.table_)), place_(from.place_) {}
  KnownRefusals(const KnownRefusals&) = delete;
  KnownRefusals& operator=(const KnownRefusals&) = delete;
  KnownRefusals& operator=(KnownRefusals&&) = delete;
  ~KnownRefusals() {
    if (table_ != nullptr) table_->shapes.reset(place_);
  }

  // Slots are below that number from now on; nothing is known of those that are new.
  void grow(std::size_t slots) {
    if (table_->of.size() < slots * table_->row) table_->of.resize(slots * table_->row);
  }
  [[nodiscard]] KnownRefusal operator[](NodeSlot slot) const { return table_->of[at(slot)]; }
  void set(NodeSlot slot, KnownRefusal refusal) { table_->of[at(slot)] = refusal; }

  // Bytes: this shape's share.
  [[nodiscard]] std::size_t memory() const {
    return table_->of.capacity() * sizeof(KnownRefusal) / table_->shapes.count();
  }

 private:
  // Shapes of a row where there are few, so that the table is small, and of further ones.
  static constexpr std::size_t kFew = 8;
  static constexpr std::size_t kMany = 64;
  struct Table {
    explicit Table(std::size_t shapes_of_row) : row(shapes_of_row) {}
    std::size_t row;
    std::vector<KnownRefusal> of;  // by slot a row
    std::bitset<kMany> shapes{};   // the places that are taken
    // The first that is not.
    [[nodiscard]] std::size_t free_place() const {
      return static_cast<std::size_t>(std::countr_one(shapes.to_ullong()));
    }
  };
  explicit KnownRefusals(std::shared_ptr<Table> table)
      : table_(std::move(table)), place_(table_->free_place()) {
    table_->shapes.set(place_);
    for (std::size_t i = place_; i < table_->of.size(); i += table_->row) table_->of[i] = {};
  }
  [[nodiscard]] std::size_t at(NodeSlot slot) const { return slot * table_->row + place_; }

  std::shared_ptr<Table> table_;
  std::size_t place_;
};

class KnownRefusals::Places {
 public:
  // For one more shape. O(nodes).
  [[nodiscard]] KnownRefusals add() {
    std::erase_if(tables_, [](const auto& table) { return table.expired(); });
    for (const auto& each : tables_) {
      auto table = each.lock();
      if (table->free_place() < table->row) return KnownRefusals(std::move(table));
    }
    auto table = std::make_shared<Table>(tables_.empty() ? kFew : kMany);
    tables_.push_back(table);
    return KnownRefusals(std::move(table));
  }

 private:
  std::vector<std::weak_ptr<Table>> tables_;
};

}  // namespace sched
