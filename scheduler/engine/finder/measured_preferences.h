// How nodes score by what rules across nodes prefer (Ruling::Preference), measured by each other.
//
// Scores hang together: what a count weighs depends on in how many domains the nodes in question
// lie, and what a raw score is worth on the least and the greatest of them. So all nodes in
// question are gone over twice, or all kinds of them where many are alike: first count(), then
// measure(); after that every node can be scored.
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

// Where a node is, to one count: in that domain, with so much in it. Of nodes that are alike the
// domain may be each one's own.
struct PlaceOfNode {
  static constexpr DomainId kEachItsOwn = kNoDomain - 1;
  DomainId domain = kNoDomain;
  std::int64_t amount = kNoAmount;
};
// By preference, and count of each.
using PlacesOfNode = boost::container::small_vector<PlaceOfNode, 2>;

class MeasuredPreferences {
 public:
  // The ruling outlives them.
  explicit MeasuredPreferences(const Ruling& ruling);

  [[nodiscard]] const std::vector<Ruling::Preference>& all() const { return all_; }

  // Of a node in the world that the ruling is about: as it is / as it would be.
  [[nodiscard]] PlacesOfNode places_of(NodeSlot slot) const;
  [[nodiscard]] PlacesOfNode places_of(const NodeFacts& facts) const;

  // Nodes in question, so many that are alike.
  void count(const PlacesOfNode& places, std::size_t nodes);
  // After all were counted: the same once more.
  void measure(const PlacesOfNode& places);

  // What it adds to a node's total.
  [[nodiscard]] std::int64_t total(const PlacesOfNode& places) const;
  // By preference.
  void append_scores(const PlacesOfNode& places, std::vector<PluginScore>& to) const;

 private:
  // What the nodes in question are, to one preference.
  struct Measured {
    std::size_t first = 0;  // of its counts, among those of all
    std::size_t nodes = 0;
    std::vector<std::size_t> domains;     // by count
    std::vector<std::vector<bool>> seen;  // by count, then by domain; the last: those in none
    bool weighed = false;                 // all are counted
    std::vector<double> weights;
    std::optional<Extremes> extremes;
  };
  // nullopt: such nodes are left out.
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
