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

// Of a node without the label: there is no domain to count in.
inline constexpr std::int64_t kNoAmount = std::numeric_limits<std::int64_t>::min();

class DomainCounts {
 public:
  // A node that counts comes to the domain / leaves it, with so much on it.
  void add_node(DomainId domain, std::int64_t amount) { change(domain, amount, 1); }
  void remove_node(DomainId domain, std::int64_t amount) { change(domain, -amount, -1); }
  // On a node of the domain there is so much more.
  void add(DomainId domain, std::int64_t amount) { change(domain, amount, 0); }

  // 0 in a domain without a node that counts.
  [[nodiscard]] std::int64_t of(DomainId domain) const {
    return domain < domains_.size() ? domains_[domain].amount : 0;
  }
  // How many have a node that counts, and the least that is in one of those.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::optional<std::int64_t> least() const {
    if (amounts_.empty()) return std::nullopt;
    return amounts_.begin()->first;
  }
  // Over all domains.
  [[nodiscard]] std::int64_t total() const { return total_; }

  // Bytes, roughly.
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
  // How many domains have that amount, of those with a node that counts.
  boost::container::flat_map<std::int64_t, std::uint32_t> amounts_;
};

}  // namespace sched
