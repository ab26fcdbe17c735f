// The nodes that take a shape, in buckets of nodes that every question treats alike.
//
// Between two nodes of one bucket, only their plain scores decide. Everything else that the answer
// to a question depends on belongs to the bucket: its charge class and topology domains, by which
// it is allowed or not, and the raw values of the normalised scores; their weight depends on the
// extremes over the nodes in question. So a question first goes over the buckets, then over their
// best nodes, and what is stored for the nodes holds for every question.
//
// Most shapes have one bucket: no quota distinguishes charge classes, no rule across nodes asks for
// domains, and there are no soft taints and no preferred nodes.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/quota/charge_class.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sched {

class Buckets {
 public:
  // Index of a bucket. An empty bucket's index may be given to another bucket.
  using Id = std::uint32_t;

  struct Key {
    quota::ChargeClassId charge_class =
        quota::kNoGpuClass;                               // kNoGpuClass until a scope asks for it
    boost::container::small_vector<DomainId, 2> domains;  // of the labels that rulings asked for
    boost::container::small_vector<std::int64_t, 2> amounts;  // of what is counted on the node
    boost::container::small_vector<std::int64_t, 2> raw;      // by normalised score

    friend bool operator==(const Key&, const Key&) = default;
    friend bool operator<(const Key& a, const Key& b) {
      if (a.charge_class != b.charge_class) return a.charge_class < b.charge_class;
      if (a.domains != b.domains) return a.domains < b.domains;
      return a.amounts != b.amounts ? a.amounts < b.amounts : a.raw < b.raw;
    }
  };

  // Slots are below that number from now on.
  void grow(std::size_t slots);
  // Puts a node that is in no bucket into the bucket of that key. O(log buckets); O(1) if that was
  // its last bucket.
  Id add(NodeSlot slot, const Key& key);
  // Takes the node out of its bucket.
  void remove(NodeSlot slot);

  // The bucket of a node that is in one.
  [[nodiscard]] Id of(NodeSlot slot) const { return of_.empty() ? 0 : of_[slot]; }
  [[nodiscard]] const Key& key(Id id) const { return buckets_[id].key; }
  [[nodiscard]] std::size_t nodes(Id id) const { return buckets_[id].nodes; }
  // In all buckets.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  // One past the largest id.
  [[nodiscard]] std::size_t size() const { return buckets_.size(); }
  // How many buckets have a node.
  [[nodiscard]] std::size_t in_use() const { return buckets_.size() - unused_.size(); }
  // Whether there was never more than the first bucket.
  [[nodiscard]] bool is_one() const { return of_.empty(); }

  void prefetch(NodeSlot slot) const {
    if (!of_.empty()) __builtin_prefetch(&of_[slot]);
  }
  // Bytes, approximately.
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
  std::vector<Id> of_;  // by slot: the node's bucket, or its last one; empty: all 0
};

}  // namespace sched
