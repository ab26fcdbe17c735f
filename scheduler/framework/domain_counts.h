// How much of something there is in each domain of a label.
#pragma once

#include "scheduler/base/types.h"

#include <boost/container/flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace sched {

// The amount for a node without the label: it is in no domain.
inline constexpr std::int64_t kNoAmount = std::numeric_limits<std::int64_t>::min();

class DomainCounts {
 public:
  // A node that counts joins / leaves the domain, with that amount on it.
  void add_node(DomainId domain, std::int64_t amount) { change(domain, amount, 1); }
  void remove_node(DomainId domain, std::int64_t amount) { change(domain, -amount, -1); }
  // The amount on a node of the domain grows by so much.
  void add(DomainId domain, std::int64_t amount) { change(domain, amount, 0); }

  // The amount in a domain; 0 if no node in it counts.
  [[nodiscard]] std::int64_t of(DomainId domain) const {
    return domain < domains_.size() ? domains_[domain].amount : 0;
  }
  // How many domains have a node that counts, and the least amount in one of those.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::optional<std::int64_t> least() const {
    if (amounts_.empty()) return std::nullopt;
    return amounts_.begin()->first;
  }
  // Over all domains.
  [[nodiscard]] std::int64_t total() const { return total_; }

  // Bytes, approximately.
  [[nodiscard]] std::size_t memory() const { return domains_.capacity() * sizeof(Domain); }

 private:
  struct Domain {
    std::int64_t amount = 0;
    std::uint32_t nodes = 0;
  };
  void change(DomainId domain, std::int64_t amount, int nodes);

  std::vector<Domain> domains_;
  std::size_t size_ = 0;
  std::int64_t total_ = 0;
  // How many domains have that amount, among those with a node that counts.
  boost::container::flat_map<std::int64_t, std::uint32_t> amounts_;
};

}  // namespace sched
