// Which nodes' facts refuse which shapes: a bit for each node and shape, those of several shapes
// side by side.
//
// With many shapes, nothing that is stored for a shape alone is still in the processor's cache when
// the shape is asked for again. But the nodes that changed since are those that the other shapes
// have just visited too. So what is read of every changed node is stored by node.
#pragma once

#include "scheduler/base/types.h"

#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sched {

// The bits of one shape.
class RuledOutNodes {
 public:
  // Gives each shape its place beside others.
  class Places;

  // A shape that has no others beside it.
  RuledOutNodes() : RuledOutNodes(std::make_shared<Table>(kFew)) {}
  RuledOutNodes(RuledOutNodes&& from) noexcept
      : table_(std::move(from.table_)), place_(from.place_) {}
  RuledOutNodes(const RuledOutNodes&) = delete;
  RuledOutNodes& operator=(const RuledOutNodes&) = delete;
  RuledOutNodes& operator=(RuledOutNodes&&) = delete;
  ~RuledOutNodes() {
    if (table_ != nullptr) table_->shapes.reset(place_);
  }

  // Slots are below that number from now on; those that are new are not ruled out.
  void grow(std::size_t slots) {
    if (table_->bytes.size() < slots * table_->row) table_->bytes.resize(slots * table_->row);
  }
  [[nodiscard]] bool operator[](NodeSlot slot) const {
    return (table_->bytes[at(slot)] & bit()) != 0;
  }
  void set(NodeSlot slot, bool ruled_out) {
    std::uint8_t& byte = table_->bytes[at(slot)];
    byte = static_cast<std::uint8_t>(ruled_out ? byte | bit() : byte & ~bit());
  }

  // Bytes: this shape's share.
  [[nodiscard]] std::size_t memory() const {
    return table_->bytes.capacity() / table_->shapes.count();
  }

 private:
  // Bytes of a row where there are few shapes, so that the table is small, and of further ones.
  static constexpr std::size_t kFew = 1;
  static constexpr std::size_t kMany = 8;
  struct Table {
    explicit Table(std::size_t bytes_of_row) : row(bytes_of_row) {}
    std::size_t row;
    std::vector<std::uint8_t> bytes;  // by slot a row, by place a bit
    std::bitset<kMany * 8> shapes{};  // the places that are taken
    // The first that is not.
    [[nodiscard]] std::size_t free_place() const {
      return static_cast<std::size_t>(std::countr_one(shapes.to_ullong()));
    }
  };
  explicit RuledOutNodes(std::shared_ptr<Table> table)
      : table_(std::move(table)), place_(table_->free_place()) {
    table_->shapes.set(place_);
    for (std::size_t i = place_ / 8; i < table_->bytes.size(); i += table_->row) {
      table_->bytes[i] = static_cast<std::uint8_t>(table_->bytes[i] & ~bit());
    }
  }
  [[nodiscard]] std::size_t at(NodeSlot slot) const { return slot * table_->row + place_ / 8; }
  [[nodiscard]] unsigned bit() const { return 1U << place_ % 8; }

  std::shared_ptr<Table> table_;
  std::size_t place_;
};

class RuledOutNodes::Places {
 public:
  // For one more shape. O(nodes).
  [[nodiscard]] RuledOutNodes add() {
    std::erase_if(tables_, [](const auto& table) { return table.expired(); });
    for (const auto& each : tables_) {
      auto table = each.lock();
      if (table->free_place() < table->row * 8) return RuledOutNodes(std::move(table));
    }
    auto table = std::make_shared<Table>(tables_.empty() ? kFew : kMany);
    tables_.push_back(table);
    return RuledOutNodes(std::move(table));
  }

 private:
  std::vector<std::weak_ptr<Table>> tables_;
};

}  // namespace sched
