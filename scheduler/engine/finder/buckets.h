// The nodes that take a shape, in buckets of those which every question treats alike.
//
// What decides between two nodes of one bucket is their plain scores alone. Everything else that
// the answer to a question depends on is the bucket's: its charge class and its topology domains,
// by which it is allowed or not, and the raw values of the normalised scores, which count for as
// much as the extremes over the nodes in question say. So a question looks at the buckets first,
// and at their best nodes then, and what is kept of the nodes holds for every question.
//
// Most shapes have one bucket: no quota asks about their classes, no rule across nodes about their
// domains, and nobody has soft taints or preferred nodes.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/quota/charge_class.h"

#include <boost/container/small_vector.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sched {

class Buckets {
 public:
  // Index of a bucket. One that is left by its last node may become another.
  using Id = std::uint32_t;

  struct Key {
    quota::ChargeClassId charge_class = quota::kNoGpuClass;  // as long as nobody asks: this one
    boost::container::small_vector<DomainId, 2> domains;  // of the labels that somebody asked about
    boost::container::small_vector<std::int64_t, 2> amounts;  // of what is counted on the node
    boost::container::small_vector<std::int64_t, 2> raw;      // by normalised score

    friend bool operator==(const Key&, const Key&) = default;
    friend bool operator<(const Key& a, const Key& b) {
      if (a.charge_class != b.charge_class) return a.charge_class < b.charge_class;
      if (a.domains != b.domains) return a.domains < b.domains;
      return a.amounts != b.amounts ? a.amounts < b.amounts : a.raw < b.raw;
    }
  };

  // From now on slots are below that number.
  void grow(std::size_t slots);
  // The node comes to the bucket of that key from none. O(log buckets); O(1) where it comes back.
  Id add(NodeSlot slot, const Key& key);
  // It leaves its bucket.
  void remove(NodeSlot slot);

  // Of a node that is in one.
  [[nodiscard]] Id of(NodeSlot slot) const { return of_.empty() ? 0 : of_[slot]; }
  [[nodiscard]] const Key& key(Id id) const { return buckets_[id].key; }
  [[nodiscard]] std::size_t nodes(Id id) const { return buckets_[id].nodes; }
  // In all buckets.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  // One past the largest id.
  [[nodiscard]] std::size_t size() const { return buckets_.size(); }
  // How many have a node.
  [[nodiscard]] std::size_t in_use() const { return buckets_.size() - unused_.size(); }
  // Whether there never was another than the first.
  [[nodiscard]] bool is_one() const { return of_.empty(); }

  void prefetch(NodeSlot slot) const {
    if (!of_.empty()) __builtin_prefetch(&of_[slot]);
  }
  // Bytes, roughly.
  [[nodiscard]] std::size_t memory() const;

 private:
  struct Bucket {
    Key key;
    std::size_t nodes = 0;
  };
  std::vector<Bucket> buckets_;
  std::vector<Id> unused_;
  std::map<Key, Id> ids_;
  std::size_t nodes_ = 0;
  std::size_t slots_ = 0;
  std::vector<Id> of_;  // by slot, that of a node in none the last it was in; empty: all 0
};

}  // namespace sched
