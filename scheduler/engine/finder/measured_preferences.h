// How nodes score by the preferences of rules across nodes (Ruling::Preference), relative to each
// other.
//
// These scores depend on all nodes in question: the weight of a count depends on the number of
// domains that these nodes are in, and a raw score is scaled by the least and the greatest among
// them. So the caller goes twice over all nodes in question, or over all kinds of them if many are
// alike: first with count(), then with measure(). After that every node can be scored.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/world/ruling.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sched {

// Where a node is for one count: its domain, and the amount in it. For nodes that are alike, each
// may be a domain of its own.
struct PlaceOfNode {
  static constexpr DomainId kEachItsOwn = kNoDomain - 1;
  DomainId domain = kNoDomain;
  std::int64_t amount = kNoAmount;
};
// By preference, and within it by count.
using PlacesOfNode = boost::container::small_vector<PlaceOfNode, 2>;

class MeasuredPreferences {
 public:
  // The ruling outlives them.
  explicit MeasuredPreferences(const Ruling& ruling);

  [[nodiscard]] const std::vector<Ruling::Preference>& all() const { return all_; }

  // The places of a node in the world of the ruling: as it is / as it would be.
  [[nodiscard]] PlacesOfNode places_of(NodeSlot slot) const;
  [[nodiscard]] PlacesOfNode places_of(const NodeFacts& facts) const;

  // Counts `nodes` nodes in question that are alike.
  void count(const PlacesOfNode& places, std::size_t nodes);
  // Call it for the same nodes again after all were counted.
  void measure(const PlacesOfNode& places);

  // What the preferences add to a node's total.
  [[nodiscard]] std::int64_t total(const PlacesOfNode& places) const;
  // By preference.
  void append_scores(const PlacesOfNode& places, std::vector<PluginScore>& to) const;

 private:
  // What one preference needs of the nodes in question.
  struct Measured {
    std::size_t first = 0;  // index of its first count among the counts of all preferences
    std::size_t nodes = 0;
    std::vector<std::size_t> domains;     // by count
    std::vector<std::vector<bool>> seen;  // by count, then by domain; the last: nodes in no domain
    bool weighed = false;                 // all are counted
    std::vector<double> weights;
    std::optional<Extremes> extremes;
  };
  // nullopt: nodes at these places are left out.
  [[nodiscard]] std::optional<std::int64_t> raw(std::size_t preference,
                                                const PlacesOfNode& places) const;
  [[nodiscard]] std::int64_t score(std::size_t preference, const PlacesOfNode& places) const;
  [[nodiscard]] std::span<const PlaceOfNode> own(std::size_t preference,
                                                 const PlacesOfNode& places) const {
    return {places.data() + measured_[preference].first, all_[preference].tallies.size()};
  }
  [[nodiscard]] bool leaves_out(std::size_t preference, std::span<const PlaceOfNode> places) const;

  const std::vector<Ruling::Preference>& all_;
  std::vector<Measured> measured_;
};

}  // namespace sched
