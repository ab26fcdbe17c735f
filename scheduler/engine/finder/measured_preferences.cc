#include "scheduler/engine/finder/measured_preferences.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sched {

MeasuredPreferences::MeasuredPreferences(const Ruling& ruling) : all_(ruling.preferences()) {
  std::size_t first = 0;
  for (const Ruling::Preference& each : all_) {
    Measured& made = measured_.emplace_back();
    made.first = first;
    first += each.tallies.size();
    made.domains.resize(each.tallies.size());
    for (const auto& tally : each.tallies) {
      made.seen.emplace_back(tally->domains()->size() + 1);
    }
  }
}

PlacesOfNode MeasuredPreferences::places_of(NodeSlot slot) const {
  PlacesOfNode places;
  for (const Ruling::Preference& each : all_) {
    for (std::size_t i = 0; i < each.tallies.size(); ++i) {
      const DomainId domain = each.tallies[i]->domains()->of(slot);
      places.push_back({domain, each.amount_in(i, domain)});
    }
  }
  return places;
}

PlacesOfNode MeasuredPreferences::places_of(const NodeFacts& facts) const {
  PlacesOfNode places;
  for (const Ruling::Preference& each : all_) {
    for (std::size_t i = 0; i < each.tallies.size(); ++i) {
      const DomainId domain = each.tallies[i]->domains()->of(facts);
      places.push_back({domain, each.amount_in(i, domain)});
    }
  }
  return places;
}

bool MeasuredPreferences::leaves_out(std::size_t preference,
                                     std::span<const PlaceOfNode> places) const {
  return all_[preference].how->needs_labels() &&
         std::any_of(places.begin(), places.end(),
                     [](const PlaceOfNode& place) { return place.domain == kNoDomain; });
}

void MeasuredPreferences::count(const PlacesOfNode& places, std::size_t nodes) {
  for (std::size_t p = 0; p < all_.size(); ++p) {
    const auto here = own(p, places);
    if (leaves_out(p, here)) continue;
    Measured& measured = measured_[p];
    measured.nodes += nodes;
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (here[i].domain == PlaceOfNode::kEachItsOwn) {
        measured.domains[i] += nodes;
        continue;
      }
      std::vector<bool>& seen = measured.seen[i];
      const std::size_t domain =
          here[i].domain == kNoDomain ? seen.size() - 1 : std::size_t{here[i].domain};
      if (seen[domain]) continue;
      seen[domain] = true;
      ++measured.domains[i];
    }
  }
}

void MeasuredPreferences::measure(const PlacesOfNode& places) {
  for (std::size_t p = 0; p < all_.size(); ++p) {
    Measured& measured = measured_[p];
    if (!std::exchange(measured.weighed, true)) {
      const auto& counts = all_[p].how->counts();
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i].by_node) measured.domains[i] = measured.nodes;
      }
      measured.weights = all_[p].how->weights(measured.domains);
    }
    const auto value = raw(p, places);
    if (!value) continue;
    if (!measured.extremes) measured.extremes = Extremes{*value, *value};
    measured.extremes->min = std::min(measured.extremes->min, *value);
    measured.extremes->max = std::max(measured.extremes->max, *value);
  }
}

std::optional<std::int64_t> MeasuredPreferences::raw(std::size_t preference,
                                                     const PlacesOfNode& places) const {
  const auto here = own(preference, places);
  if (leaves_out(preference, here)) return std::nullopt;
  boost::container::small_vector<std::int64_t, 4> amounts;
  for (const PlaceOfNode& place : here) amounts.push_back(place.amount);
  return all_[preference].how->raw({amounts.data(), amounts.size()}, measured_[preference].weights);
}

std::int64_t MeasuredPreferences::score(std::size_t preference, const PlacesOfNode& places) const {
  const std::optional<Extremes>& extremes = measured_[preference].extremes;
  const auto value = raw(preference, places);
  return value && extremes ? all_[preference].how->score(*value, *extremes) : 0;
}

std::int64_t MeasuredPreferences::total(const PlacesOfNode& places) const {
  std::int64_t all = 0;
  for (std::size_t p = 0; p < all_.size(); ++p) all += all_[p].weight * score(p, places);
  return all;
}

void MeasuredPreferences::append_scores(const PlacesOfNode& places,
                                        std::vector<PluginScore>& to) const {
  for (std::size_t p = 0; p < all_.size(); ++p) {
    to.push_back({.plugin = std::string(all_[p].plugin),
                  .score = score(p, places),
                  .weight = all_[p].weight});
  }
}

}  // namespace sched
